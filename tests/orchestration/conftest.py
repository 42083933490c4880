"""Nights that cost their own time only."""

from quick_dagster import _quick_nights as _quick_nights
