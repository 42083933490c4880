"""Imports of conversations and memories from other applications, as notes, through the save gate.

A reader (`chatgpt`, `claude`, `coding`, `memories`, `markdown`) turns an export into items. `run_import`
decides which are new and saves them; `gate_preview` asks the gate without writing anything.
"""
