# SPDX-License-Identifier: Apache-2.0
"""One private choice."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import OutsideWarning, check, new_error, refuse
from ._keys import Key, pointer
from ._native import ffi, lib
from ._numbers import pair, real


def pick(
    scores: ArrayLike,
    *,
    epsilon: float,
    range: tuple[float, float] | None = None,
    sensitivity: float | None = None,
    largest: bool = False,
    seed: int | None = None,
) -> int:
    """The column with the smallest (or largest) total, differentially private, exactly (`caucus pick`).

    `scores` has one row per person and one column per candidate, values in the public `range` (0, 1 if not said);
    values outside are moved to its end, values that are no numbers are the worst there is, and an OutsideWarning says
    how many, for the owner of the data alone. Or it is one row of sums that were made elsewhere, and `sensitivity` says
    how much one person can change one of them. Replacing a person changes the probability of every choice by a factor
    of at most e^epsilon. Each call spends that epsilon again. With a seed the choice can be repeated: NOT PRIVATE.
    """
    table = _table(scores, sensitivity is not None)
    settings, picked, error = ffi.new("caucus_pick_settings *"), ffi.new("caucus_picked *"), new_error()
    lib.caucus_pick_settings_init(settings)
    lib.caucus_picked_init(picked)
    settings.epsilon = real("epsilon", epsilon, "must be above 0, at most 1000")
    if sensitivity is not None:
        if range is not None:
            raise refuse("range", f"{range}: is of one person's values; with sums say sensitivity")
        settings.sensitivity = real("sensitivity", sensitivity, "must be a number above 0")
        if not settings.sensitivity > 0:
            raise refuse("sensitivity", f"{sensitivity}: must be a number above 0")
    elif range is not None:
        settings.lo, settings.hi = pair("range", range, "must be a lower and a higher number, for example (0, 1)")
    settings.largest = largest
    key = ffi.NULL if seed is None else pointer(Key(seed))
    values = ffi.from_buffer("double[]", table)
    status = lib.caucus_pick_choose(settings, values, table.shape[0], table.shape[1], key, picked, error)
    check(status, error, "" if ffi.string(error.field) else "scores: ")
    _say_moved(int(picked.nan), int(picked.clamped), table.size)
    return int(picked.choice)


def _table(scores: ArrayLike, summed: bool) -> NDArray[np.float64]:
    """Scores as the library reads them."""
    try:
        table = np.ascontiguousarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as why:
        raise refuse("", f"scores: {why}") from why
    if table.ndim == 1 and summed:
        table = table[np.newaxis, :]
    if table.ndim != 2:
        expected = "one row, the sums" if summed else "persons × candidates"
        also = "" if summed else " (sums made elsewhere need sensitivity)"
        raise refuse("", f"scores: shape {table.shape} — expected {expected}{also}")
    return table


def _say_moved(nan: int, moved: int, values: int) -> None:
    """For who holds the data, and for nobody else: these counts are not private."""
    if nan > 0:
        words = f"{nan} values that are not numbers were taken for the worst there is (this count is not private)"
        warnings.warn(words, OutsideWarning, stacklevel=3)
    if moved > 0:
        words = f"{moved} of {values} values outside the range were moved to its end (this count is not private)"
        warnings.warn(words, OutsideWarning, stacklevel=3)
