"""Version number, without importing the whole package."""

from __future__ import annotations

VERSION = "0.1.0"
