"""Web page of a home: search, memories, decisions, learning, judgments.

Pages are rendered on the server, without scripts and external resources (`keys.js` adds shortcuts). Content
and decisions come from the packages below; this one has access, routes and layout. It needs ``pip install
'.[page]'``.
"""
