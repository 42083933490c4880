"""The memory as a server of the Model Context Protocol, for assistants.

Nothing outside :mod:`slowwave.mcp.server` and the two transports (:mod:`slowwave.mcp.stdio`,
:mod:`slowwave.mcp.http`) needs the SDK, which comes with ``pip install '.[mcp]'``.
"""
