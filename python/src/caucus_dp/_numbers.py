# SPDX-License-Identifier: Apache-2.0
"""Numbers that callers give, of whatever type they are, or a refusal that names the setting."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from ._errors import InputError, refuse


def whole(name: str, value: object, least: int, most: int, words: str) -> int:
    """A whole number from `least` to `most`."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise refuse(name, f"{value!r}: {words}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise refuse(name, f"{value}: {words}")
    return number


def real(name: str, value: object, words: str) -> float:
    """A number; not NaN, no text, no truth value."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise refuse(name, f"{value!r}: {words}") from None
    if math.isnan(number):
        raise refuse(name, f"{value}: {words}")
    return number


def pair(name: str, value: object, words: str) -> tuple[float, float]:
    """Two numbers."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise refuse(name, f"{value!r}: {words}")
    try:
        return real(name, value[0], words), real(name, value[1], words)
    except InputError:
        raise refuse(name, f"{value!r}: {words}") from None
