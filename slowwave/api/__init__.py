"""The memory over HTTP, for any language: the same functions as over MCP, described by OpenAPI.

It needs ``pip install '.[api,mcp]'``. :mod:`slowwave.api.app` makes the application.
"""
