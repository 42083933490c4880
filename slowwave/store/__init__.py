"""LanceDB store: schemas, upserts, partitions, checkpoints, migrations, indexes, maintenance."""

from slowwave.store.database import Store, Written
from slowwave.store.frames import one_of, quote
from slowwave.store.tables import NOTE_FIELDS, TableSpec, table_specs

__all__ = ["NOTE_FIELDS", "Store", "TableSpec", "Written", "one_of", "quote", "table_specs"]
