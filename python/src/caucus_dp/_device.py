# SPDX-License-Identifier: Apache-2.0
"""`caucus.join()` of a plan whose devices have their own pace: losses when there are some, slots by a clock.

The protocol, what must survive a restart and how much of a slot counts are libcaucus-link's, as in `caucus join`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._connection import now_ms
from ._errors import Error, refuse
from ._link import Link
from ._machines import rows_of
from ._member import LossMapping, Member, Round
from ._native import ffi, lib
from ._plan import pointer


class Device(Member):
    """A client at its own pace, made by `join()`: observe what is seen, and give the network some time now and then."""

    def __init__(self, link: Link, give_up: float | None, seeded: bool) -> None:
        """For this module."""
        super().__init__(link, give_up)
        self._seeded = seeded
        self._slot_seconds = int(lib.caucus_plan_settings(pointer(link.plan)).phase_time)
        self._all = list(range(link.plan.experts))

    @property
    def expert(self) -> int | None:
        """The expert to play, from 0; None until the coordinator has said one."""
        if self._left:
            raise Error("this client has left", "CAUCUS_E_ORDER")
        return self._link.expert if self._link.ready else None

    @property
    def expert_name(self) -> str | None:
        """What it is called; None where experts have numbers, or before the first."""
        expert = self.expert
        return None if expert is None or self.names is None else self.names[expert]

    @property
    def heard(self) -> int:
        """Announcements so far, by their number: it grows with every decision, whether the expert changes or not."""
        return self._link.heard

    def slot(self, number: int) -> None:
        """Which slot it is, where a seed makes the run repeatable; otherwise this device's clock says so."""
        if not self._seeded:
            raise refuse("slot", "is for clients with a seed: this one's slots are those of its clock")
        self._move(number)

    def observe(self, losses: ArrayLike | LossMapping) -> None:
        """Losses that were seen now: one number per expert, or a mapping from expert to loss, or several rows.

        What is above the plan's `most` in a slot is not counted. With a state they are on disk, with their slot, when
        it returns: they are in one item, whatever happens to the process, and must not be given again. Several rows are
        saved once, which is what costs.
        """
        self._tick()
        if self.expert is None:
            raise Error("nothing was announced yet: wait() until there is an expert", "CAUCUS_E_ORDER")
        if isinstance(losses, Mapping):
            losses = self._row(Round(self, self.round + 1, self._link.expert, self._all), losses)
        rows = rows_of(losses, self.plan.experts)
        if rows.dtype != np.float64:
            rows = rows.astype(np.float64)
        try:
            self._link.observe_rows(ffi.from_buffer("double[]", rows), rows.shape[0])
        except OSError as why:
            self._hang_up(why)
        self._turn()

    def wait(self, seconds: float = 0) -> bool:
        """Talk with the coordinator for so many seconds at most; at once if there is nothing to be said.

        Returns whether there is another expert now than before, and does so at once when there is; also when the run
        is over (`done`).
        """
        before, end = self.expert, now_ms() + int(seconds * 1000)
        while not self._settled(before):
            left = (end - now_ms()) / 1000
            self._dial_or_wait(min(max(left, 0), self._seconds(), self._until_slot()))
            if left <= 0 and not self._settled(before):
                return False
        return self.expert != before

    async def wait_async(self, seconds: float = 0) -> bool:
        """The same without blocking."""
        before, end = self.expert, now_ms() + int(seconds * 1000)
        while not self._settled(before):
            left = (end - now_ms()) / 1000
            await self._dial_or_await(min(max(left, 0), self._seconds(), self._until_slot()))
            if left <= 0 and not self._settled(before):
                return False
        return self.expert != before

    def _settled(self, before: int | None) -> bool:
        """Do what can be done now; whether there is no reason to wait any longer."""
        self._tick()
        self._turn()
        if self.expert != before or self._link.done:
            return True
        self._link.check_refused()
        self._link.check_missing(self._give_up)
        return False

    def _tick(self) -> None:
        if not self._seeded:
            self._move(max(int(time.time()), 0) // self._slot_seconds)

    def _move(self, slot: int) -> None:
        if self._left:
            raise Error("this client has left", "CAUCUS_E_ORDER")
        try:
            self._link.slot(slot)
        except OSError as why:
            self._hang_up(why)

    def _until_slot(self) -> float:
        """Seconds to the next slot: then there is an item to send."""
        return 60.0 if self._seeded else self._slot_seconds - time.time() % self._slot_seconds + 0.001

    def __enter__(self) -> Device:
        return self

    async def __aenter__(self) -> Device:
        return self

    def __next__(self) -> NoReturn:
        raise Error("this plan has no rounds: observe() what is seen, wait() for experts", "CAUCUS_E_ORDER")

    async def __anext__(self) -> NoReturn:
        raise Error("this plan has no rounds: observe() what is seen, wait_async() for experts", "CAUCUS_E_ORDER")
