"""The version, for those that may not import the whole package."""

from __future__ import annotations

VERSION = "0.1.0"
