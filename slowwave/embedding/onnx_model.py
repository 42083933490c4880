"""A bundled model on onnxruntime: its tokeniser and its session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from slowwave.embedding.bundled_weights import REINSTALL
from slowwave.errors import ModelError

if TYPE_CHECKING:
    import onnxruntime

MODEL_FILES = ("model.onnx", "tokenizer.json")


class OnnxModel:
    """A transformer of the BERT family in a folder.

    Its session has no thread of its own: who calls it computes, and several may at once. A thread that waits
    for another one's part of a matrix burns its core while it waits, and on a busy machine it waits long; and
    a process that was forked has lost such threads. Whoever has many texts calls it from many threads
    (`side_by_side`), which gives each text the very numbers that it gets alone.

    Args:
        folder: has the `MODEL_FILES`.
        max_tokens: of a text, or of two texts together, that are read; the longer one loses its end first.

    Raises:
        ModelError: they cannot be read.
    """

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        weights, words = (str(folder / file) for file in MODEL_FILES)
        try:
            self.tokenizer = Tokenizer.from_file(words)
            self.session = onnxruntime.InferenceSession(
                weights, session_options(), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # theirs have no class in common
            raise ModelError(
                f"The model in {folder} cannot be loaded: {error} If it is damaged: {REINSTALL}"
            ) from error
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length=max_tokens)

    def run(self, batch: Sequence[tuple[str] | tuple[str, str]]) -> npt.NDArray[np.float32]:
        """The model's first output for texts, or for pairs of texts; the first axis is theirs.

        Weights and activations are int8, and the latter are scaled by the largest of a batch: in company an
        output is not quite what it is alone.
        """
        encoded = [self.tokenizer.encode(*texts) for texts in batch]
        given = np.zeros((3, len(encoded), max(len(one.ids) for one in encoded)), dtype=np.int64)
        for at, one in enumerate(encoded):  # id 0 is [PAD] in all of BERT's vocabularies
            given[:, at, : len(one.ids)] = one.ids, one.attention_mask, one.type_ids
        inputs = dict(zip(("input_ids", "attention_mask", "token_type_ids"), given, strict=True))
        output: npt.NDArray[np.float32] = self.session.run(None, inputs)[0]
        return output


def session_options() -> onnxruntime.SessionOptions:
    """How a session computes: node after node, in the thread that calls it, never waiting awake."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
