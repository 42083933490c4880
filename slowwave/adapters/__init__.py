"""Adapters for agent frameworks: one thin module for each, imported only by its users.

Every adapter takes an open :class:`slowwave.Memory`. Its namespace and principal apply; no argument or key
can change them. Texts for models are quoted as over MCP, and secret memories are left out.

``pip install '.[langchain]'`` (``llamaindex``, ``openai-agents``, ``pydantic-ai``) installs a framework.
"""
