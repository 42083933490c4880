"""Stages of the nightly job as Dagster assets: read, call a pure function, write, report.

No module here postpones annotations: Dagster reads them when an asset is defined.
"""

import warnings

import dagster as dg

# The nightly job needs range backfills in one run; their API is marked as beta.
warnings.filterwarnings("ignore", message="Parameter `backfill_policy`", category=dg.BetaWarning)
