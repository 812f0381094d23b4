"""Sinusoidal positions, added to embeddings."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable(package="chatbot")
class PositionalEncoding(keras.layers.Layer):
    """Adds sines and cosines of each position to a sequence of vectors.

    PE[p, 2i] = sin(p / 10000^(2i/D)) and PE[p, 2i+1] = cos(p / 10000^(2i/D)) with positions p from 0, interleaved.
    Computed in float32 for whatever length comes: there is no table and no maximum.

    Call arguments:
        inputs: float [B, T, D]; D even.
        positions: number [T] or [B, T], of each vector; None: 0, 1, 2 ... from the first one on.

    Returns:
        float [B, T, D].

    Raises:
        ValueError: D is odd.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762).
    """

    def build(self, input_shape: Any) -> None:
        """Checks the width; there are no weights."""
        width = input_shape[-1]
        if width is None or width % 2:
            raise ValueError(f"PositionalEncoding needs an even last axis; received inputs of shape {tuple(input_shape)}")
        self._frequencies = 10000.0 ** (-np.arange(0, width, 2) / width)  # [D/2], NumPy until called
        self.built = True

    def call(self, inputs: Any, positions: Any = None) -> Any:
        """See the class."""
        length, width = ops.shape(inputs)[1], inputs.shape[-1]
        if positions is None:
            positions = ops.arange(length)
        angles = ops.cast(positions, "float32")[..., None] * ops.convert_to_tensor(self._frequencies, "float32")  # [.., T, D/2]
        interleaved = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)  # [.., T, D/2, 2]
        return inputs + ops.cast(ops.reshape(interleaved, (-1, length, width)), inputs.dtype)
