"""Server of the Model Context Protocol (MCP), for assistants.

Only :mod:`slowwave.mcp.server` and the transports (:mod:`slowwave.mcp.stdio`, :mod:`slowwave.mcp.http`) need
the SDK, which comes with ``pip install '.[mcp]'``.
"""
