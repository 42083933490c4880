"""The memory in the words of agent frameworks: one thin module for each, imported only by who uses it.

Every adapter takes an open :class:`slowwave.Memory`, so its namespace and principal are what that says; no
argument of a call and no key leads out of it. What a model reads is quoted as over MCP, and what is secret is
not there.

``pip install '.[langchain]'`` (``llamaindex``, ``openai-agents``, ``pydantic-ai``) has each framework.
"""
