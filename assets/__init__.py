"""The stages of the night as Dagster assets: read, call a pure function, write, report.

No module here postpones annotations: Dagster reads them when an asset is defined.
"""

import warnings

import dagster as dg

# Range backfills in one run are what the night rests on; that their API may still change is known.
warnings.filterwarnings("ignore", message="Parameter `backfill_policy`", category=dg.BetaWarning)
