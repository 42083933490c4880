"""Bundled model on onnxruntime: tokeniser and session."""

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
    """Transformer of the BERT family in a folder.

    Its session has no threads of its own: the caller computes, and several may call at once. A thread that
    waits for another's part of a matrix burns its core, and a forked process loses such threads. For many
    texts, call it from many threads (`side_by_side`): each text gets the same numbers as alone.

    Args:
        folder: Has the `MODEL_FILES`.
        max_tokens: Of a text, or of two texts together; the longer one is truncated first.

    Raises:
        ModelError: The files cannot be loaded.
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
        except Exception as error:  # the libraries' errors have no common class
            raise ModelError(
                f"Cannot load the model in {folder}: {error} If it is damaged, run: {REINSTALL}"
            ) from error
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length=max_tokens)

    def run(self, batch: Sequence[tuple[str] | tuple[str, str]]) -> npt.NDArray[np.float32]:
        """Return the model's first output for texts, or for pairs of texts; the first axis is the batch.

        Weights and activations are int8, and activations are scaled by the largest of a batch. So an output
        in a batch differs slightly from that of the text alone.
        """
        encoded = [self.tokenizer.encode(*texts) for texts in batch]
        inputs_array = np.zeros(
            (3, len(encoded), max(len(encoding.ids) for encoding in encoded)), dtype=np.int64
        )
        for at, encoding in enumerate(encoded):  # id 0 is [PAD] in all of BERT's vocabularies
            inputs_array[:, at, : len(encoding.ids)] = (
                encoding.ids,
                encoding.attention_mask,
                encoding.type_ids,
            )
        inputs = dict(zip(("input_ids", "attention_mask", "token_type_ids"), inputs_array, strict=True))
        output: npt.NDArray[np.float32] = self.session.run(None, inputs)[0]
        return output


def session_options() -> onnxruntime.SessionOptions:
    """Return session options: sequential, in the calling thread, without busy waiting."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
