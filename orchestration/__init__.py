"""Dagster: definitions, the job, the schedule, sensors, checks, the commands."""
