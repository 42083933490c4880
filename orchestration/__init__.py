"""Dagster: definitions, the job, the schedule, sensors, checks, the IO manager, the commands."""
