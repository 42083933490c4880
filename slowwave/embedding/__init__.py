"""Embedding models: the bundled default, the fast one, and any other by name.

==========================  ==============================================================
name                        what it is
==========================  ==============================================================
``bge-small-en-v1.5``       384 numbers, int8 ONNX, travels with the installation (default)
``wordllama-256``           256 numbers, static vectors: about 80 times cheaper, weaker
``fastembed:NAME``          a model of fastembed's catalogue, downloaded on first use
``lancedb:PROVIDER/NAME``   a model of LanceDB's embedding registry (openai, ollama, ...)
==========================  ==============================================================
"""

from __future__ import annotations

import os
from importlib import import_module

from slowwave.embedding.base import MODELS, Embedder, ModelProfile, knows, profile
from slowwave.errors import ModelError
from slowwave.settings import EmbeddingSettings

__all__ = ["Embedder", "ModelProfile", "knows", "load_embedder", "profile"]

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# onnxruntime sends a device id and events to its maker unless this is set before the import.


def load_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder that the settings name; the model is loaded on first use.

    Raises:
        ModelError: No such model, or its files are missing or damaged.
    """
    name = settings.model
    if name in MODELS:
        module, _, embedder = MODELS[name].embedder.partition(".")
        created: Embedder = getattr(import_module(f"{__name__}.{module}"), embedder)(settings)
        return created
    kind, _, rest = name.partition(":")
    if kind == "fastembed" and rest:
        from slowwave.embedding.catalogue import catalogue_model

        return catalogue_model(rest, settings)
    if kind == "lancedb" and "/" in rest:
        from slowwave.embedding.registry import RegistryEmbedder

        return RegistryEmbedder(*rest.split("/", 1))
    raise ModelError(
        f"embedding.model = {name!r} is unknown. Use {', '.join(MODELS)}, fastembed:NAME "
        f"(for instance fastembed:BAAI/bge-base-en-v1.5) or lancedb:PROVIDER/NAME (for instance "
        f"lancedb:openai/text-embedding-3-small)."
    )
