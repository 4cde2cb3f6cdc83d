# SPDX-License-Identifier: Apache-2.0
"""One private choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._errors import check, new_error, refuse
from ._keys import Key, pointer
from ._native import ffi, lib


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
    values outside are moved to its end. Or it is one row of sums that were made elsewhere, and `sensitivity` says how
    much one person can change one of them. Replacing a person changes the probability of every choice by a factor of at
    most e^epsilon. Each call spends that epsilon again. With a seed the choice can be repeated: NOT PRIVATE.
    """
    table = np.ascontiguousarray(scores, dtype=np.float64)
    if table.ndim == 1 and sensitivity is not None:
        table = table[np.newaxis, :]
    if table.ndim != 2:
        expected = "one row, the sums" if sensitivity is not None else "persons × candidates"
        also = "" if sensitivity is not None else " (sums made elsewhere need sensitivity)"
        raise refuse("", f"scores: shape {table.shape} — expected {expected}{also}")
    if sensitivity is not None and range is not None:
        raise refuse("range", f"{range}: is of one person's values; with sums say sensitivity")
    if sensitivity is not None and not sensitivity > 0:
        raise refuse("sensitivity", f"{sensitivity}: must be a number above 0")
    settings, picked, error = ffi.new("caucus_pick_settings *"), ffi.new("caucus_picked *"), new_error()
    lib.caucus_pick_settings_init(settings)
    lib.caucus_picked_init(picked)
    settings.epsilon = epsilon
    settings.lo, settings.hi = (0.0, 1.0) if range is None else range
    settings.sensitivity = 0.0 if sensitivity is None else sensitivity
    settings.largest = largest
    key = ffi.NULL if seed is None else pointer(Key(seed))
    values = ffi.from_buffer("double[]", table)
    status = lib.caucus_pick_choose(settings, values, table.shape[0], table.shape[1], key, picked, error)
    check(status, error, "" if ffi.string(error.field) else "scores: ")
    return int(picked.choice)
