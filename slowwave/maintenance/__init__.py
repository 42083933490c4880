"""Maintenance of a whole home: doctor, rebuild, restore, re-embed, move, upgrade and erase."""
