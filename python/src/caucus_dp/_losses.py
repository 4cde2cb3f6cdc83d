# SPDX-License-Identifier: Apache-2.0
"""Losses in memory, for the library to read where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import refuse
from ._native import ffi, lib


def numbers_of(losses: ArrayLike) -> NDArray[Any]:
    """float32 or float64 in C order, without a copy where they are that already."""
    try:
        array = np.asarray(losses)
        return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
    except (TypeError, ValueError) as why:  # words, or rows of different lengths
        raise refuse("", f"losses: {why}") from why


def loss_array(losses: ArrayLike) -> tuple[Any, object]:
    """A caucus_loss_array, and what it borrows from, which whoever reads it has to keep as long."""
    array = numbers_of(losses)
    if array.ndim != 3 or array.size == 0:
        raise refuse(
            "", f"losses: shape {array.shape} — expected clients × rounds × experts, for example (10, 512, 100)"
        )
    if max(array.shape[0], array.shape[2]) >= 1 << 32:
        raise refuse("", f"losses: shape {array.shape} — at most 2^24 clients and 2^20 experts")
    ret = ffi.new("caucus_loss_array *")
    lib.caucus_loss_array_init(ret)
    ret.values = values = ffi.from_buffer(array)  # while this is there the array cannot be resized, either
    ret.wide = array.dtype == np.float64
    ret.clients, ret.rounds, ret.experts = array.shape
    return ret, values
