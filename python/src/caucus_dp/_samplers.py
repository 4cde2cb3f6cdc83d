# SPDX-License-Identifier: Apache-2.0
"""Exact discrete noise from the operating system's randomness."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import refuse
from ._keys import Key, pointer
from ._native import ffi, lib

Scale = float | Fraction | np.integer[Any] | np.floating[Any]
_BITS = 56  # of a denominator, the most that a sampler takes
_DRAWS = 1 << 20  # from one stream, which has no end that so many draws could reach


def _exact(name: str, value: Scale) -> Fraction:
    try:
        if isinstance(value, bool | str):
            raise TypeError
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError):
        given = repr(value) if isinstance(value, str) else value
        raise refuse(name, f"{given}: must be a number above 0") from None
    if not exact > 0:
        raise refuse(name, f"{value}: must be a number above 0")
    return exact


def _rational(value: Fraction, up: bool) -> Any:
    """The value, or the next k/2^56 below or above it if its parts are too large."""
    if value.denominator >= 1 << _BITS or value.numerator >= 1 << _BITS:
        bits = min(_BITS - 1, _BITS - 1 - max(0, math.floor(value).bit_length()))
        scaled = value * (1 << bits)
        value = Fraction(math.ceil(scaled) if up else math.floor(scaled), 1 << bits)
    return lib.caucus_rational_make(value.numerator, value.denominator)


def _draw(fill: Any, parameter: Any, size: int | tuple[int, ...], seed: int | None) -> NDArray[np.int64]:
    try:
        draws = np.empty(size, dtype=np.int64)
    except (TypeError, ValueError):
        raise refuse("size", f"{size!r}: must be a whole number, 0 or above, or the shape of an array") from None
    flat = draws.reshape(-1)
    key = Key(seed)
    stream = ffi.gc(ffi.new("caucus_stream *"), lib.caucus_stream_wipe)
    for piece, start in enumerate(range(0, flat.size, _DRAWS)):
        part = flat[start : start + _DRAWS]
        lib.caucus_stream_init(stream, pointer(key), lib.CAUCUS_PURPOSE_MESSAGE, 0, piece, 0)
        fill(stream, parameter, ffi.from_buffer("int64_t[]", part, require_writable=True), part.size)
    return draws


def laplace(size: int | tuple[int, ...], *, scale: Scale, seed: int | None = None) -> NDArray[np.int64]:
    """Whole numbers with P(y) ~ e^(-|y|/scale), exactly: no floating point, no cut tail.

    A scale that is no fraction of small parts is rounded up, towards privacy. With a seed the draws can be repeated:
    NOT PRIVATE.
    """
    exact = _exact("scale", scale)
    if not Fraction(1, 1 << 30) <= exact <= 1 << 40:
        raise refuse("scale", f"{scale}: must be from 2^-30 to 2^40")
    return _draw(lib.caucus_laplace_fill, _rational(1 / exact, up=False), size, seed)


def gaussian(size: int | tuple[int, ...], *, scale: Scale, seed: int | None = None) -> NDArray[np.int64]:
    """Whole numbers with P(y) ~ e^(-y^2/(2 scale^2)), exactly; `scale` is the standard deviation but for rounding.

    As `laplace()`; scale^2 is rounded up.
    """
    exact = _exact("scale", scale)
    if not Fraction(1, 1 << 12) <= exact <= 1 << 26:
        raise refuse("scale", f"{scale}: must be from 2^-12 to 2^26")
    return _draw(lib.caucus_gaussian_fill, _rational(exact * exact, up=True), size, seed)
