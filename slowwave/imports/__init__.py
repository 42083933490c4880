"""Conversations and memories that a person has elsewhere are taken in once, as notes, through the gate.

A reader (`chatgpt`, `claude`, `coding`, `memories`, `markdown`) turns an export into items; `taking` decides
which are new and lets them in; `weighing` asks the gate without writing anything.
"""
