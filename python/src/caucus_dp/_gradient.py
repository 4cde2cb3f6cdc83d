# SPDX-License-Identifier: Apache-2.0
"""Gradients of convex losses: what the library asks while it makes a report is asked of a function in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import Error, refuse
from ._native import ffi, lib
from ._plan import Plan, pointer

Gradient = Callable[[int, NDArray[np.float64]], ArrayLike]
"""gradient(round, x): the gradient of this client's loss of that round at the mixture x, one number per expert."""


class GradientSource:
    """A function in Python, as the library calls it. What it raises is kept until the call of the library is over."""

    def __init__(self, function: Gradient) -> None:
        self.handle = ffi.new_handle(self)
        self.failed = False
        self.saver: Any = None
        """The native_saver that is to keep nothing after a failure."""
        self._function = function
        self._round = 0
        self._error: BaseException | None = None

    def fill(self, round: int, x: NDArray[np.float64], ret: NDArray[np.float64]) -> None:
        """Ask for one gradient. After a failure none is asked for: what is being made is thrown away."""
        ret[:] = 0
        if self.failed:
            return
        try:
            found = np.asarray(self._function(round, x), dtype=np.float64)
            if found.shape != ret.shape:
                raise refuse("gradient", f"shape {found.shape} — expected {ret.size} numbers, one per expert")
            ret[:] = found
        except BaseException as error:  # an interrupt, too: it goes on above
            self.failed, self._error, self._round = True, error, round
            if self.saver is not None:
                self.saver.failed = 1

    def check(self) -> None:
        """Raise what the function has raised."""
        error, self._error = self._error, None
        if error is None:
            if self.failed:
                raise Error("the gradient of an earlier round has failed: this client is over", "CAUCUS_E_ORDER")
            return
        if isinstance(error, Exception):
            raise Error(f"the gradient of round {self._round} has failed: {error}", "CAUCUS_E_RANGE") from error
        raise error


@ffi.def_extern()  # type: ignore[untyped-decorator,unused-ignore]
def native_gradient(user: Any, round: int, x: Any, ret: Any, experts: int) -> None:
    """What the library calls."""
    at = np.frombuffer(ffi.buffer(x, 8 * experts), dtype=np.float64)
    at.flags.writeable = False
    source: GradientSource = ffi.from_handle(user)
    source.fill(round, at, np.frombuffer(ffi.buffer(ret, 8 * experts), dtype=np.float64))


def source_of(plan: Plan, gradient: Gradient | None) -> GradientSource | None:
    """Where the gradients of a plan with convex losses come from; None: its losses are numbers."""
    if lib.caucus_plan_settings(pointer(plan)).loss_shape == lib.CAUCUS_LOSS_SHAPE_LINEAR:
        if gradient is not None:
            raise refuse("gradient", "goes with a plan whose losses are convex functions; this one's are numbers")
        return None
    if gradient is None:
        raise refuse("gradient", "is needed: the plan's losses are convex functions, known by their gradients")
    return GradientSource(gradient)
