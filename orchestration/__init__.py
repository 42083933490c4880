"""Dagster code location: definitions, the job, the schedule, sensors, checks, the commands."""
