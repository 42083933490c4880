"""HTTP API of the memory: the functions of MCP, described by OpenAPI.

It needs ``pip install '.[api,mcp]'``. :mod:`slowwave.api.app` builds the application.
"""
