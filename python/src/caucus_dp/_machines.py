# SPDX-License-Identifier: Apache-2.0
"""The bare machines: messages in, messages out. Whoever moves the messages is the transport."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import check, failure, new_error, owned, refuse
from ._gradient import Gradient, source_of
from ._keys import Key, key_of
from ._keys import pointer as key_pointer
from ._losses import numbers_of
from ._messages import ASKS, Announcement, Look, Report, ask_value
from ._native import ffi, lib
from ._numbers import whole
from ._plan import PlanOrPath, as_plan, pointer


def _checked(status: int, what: str) -> None:
    check(status, new_error(), f"{what}: ")


def _save(machine: Any, size: Any, save: Any) -> bytes:
    state = ffi.new("uint8_t[]", size(machine))
    _checked(save(machine, state, len(state)), "state")
    kept = bytes(ffi.buffer(state))
    lib.native_wipe(state, len(state))
    return kept


class Client:
    """The client's machine (caucus/client.h): give it losses and announcements, take an expert and reports.

    It draws from a key of its own: fresh from the operating system, or that of a seed (NOT PRIVATE), which makes the
    run repeat what `simulate(seed=...)` plays in its first trial. A plan with convex losses needs `gradient(round, x)`,
    the gradient of this client's loss of a round that was observed at the mixture x; `report()` asks for it, and the
    same arguments must give the same answer.
    """

    def __init__(
        self,
        plan: PlanOrPath,
        index: int,
        *,
        seed: int | None = None,
        key: Key | None = None,
        gradient: Gradient | None = None,
    ) -> None:
        self._begin(plan, index, gradient)
        ret = ffi.new("caucus_client **")
        own = key_of(key, seed, self.index)
        status = lib.caucus_client_new(pointer(self.plan), self.index, key_pointer(own), ret)
        _checked(status, f"client {index}")
        self._take(ret[0])

    def _begin(self, plan: PlanOrPath, index: int, gradient: Gradient | None) -> None:
        self.plan = as_plan(plan)
        words = f"must be a client's number, 1 to {self.plan.clients}"
        self.index = whole("client", index, 1, self.plan.clients, words)
        self._source = source_of(self.plan, gradient)

    def _take(self, client: Any) -> None:
        self._client = owned(client, lib.caucus_client_free, pointer(self.plan), self._source)
        if self._source is not None:
            lib.caucus_client_set_gradient(client, lib.native_gradient, self._source.handle)

    @classmethod
    def restore(
        cls,
        plan: PlanOrPath,
        index: int,
        state: bytes,
        *,
        seed: int | None = None,
        key: Key | None = None,
        gradient: Gradient | None = None,
    ) -> Client:
        """The client that `save()` was asked of, with its key."""
        client = cls.__new__(cls)
        client._begin(plan, index, gradient)
        ret = ffi.new("caucus_client **")
        own = key_of(key, seed, client.index)
        status = lib.caucus_client_restore(pointer(client.plan), client.index, key_pointer(own), state, len(state), ret)
        _checked(status, f"client {index}")
        client._take(ret[0])
        return client

    def save(self) -> bytes:
        """The whole state but the key. Save after `report()` and before the report is sent: then it is sent again as it
        was, never drawn again. The bytes hold this client's sums: they stay with it.
        """
        self._check_gradient()
        return _save(self._client, lib.caucus_client_state_bytes, lib.caucus_client_save)

    def slot(self, number: int) -> None:
        """Own pace: the device's clock is in this slot, unix time // phase_time."""
        _checked(lib.caucus_client_slot(self._client, number), f"slot {number}")

    def acknowledge(self, following: int) -> None:
        """Own pace: the coordinator has counted this client's items before this number, and will not forget it."""
        _checked(lib.caucus_client_acknowledge(self._client, following), f"item {following}")

    def hear(self, announcement: Announcement) -> None:
        """Hear an announcement; one that was heard before changes nothing."""
        if len(announcement.listed) > lib.CAUCUS_SHORTLIST_MOST:
            raise refuse("listed", f"{len(announcement.listed)} experts: at most {lib.CAUCUS_SHORTLIST_MOST}")
        a = ffi.new(
            "caucus_announcement *",
            {
                "serial": announcement.serial,
                "epoch": announcement.epoch,
                "block": announcement.block,
                "expert": announcement.expert,
                "ask": ask_value(announcement.ask),
                "leaf": announcement.leaf,
                "listed": len(announcement.listed),
                "list": announcement.listed,
            },
        )
        status = lib.caucus_client_hear(self._client, a)
        if status not in (lib.CAUCUS_OK, lib.CAUCUS_E_DUPLICATE):
            raise failure(status, new_error(), f"announcement {announcement.serial}: ")

    @property
    def expert(self) -> int:
        """The expert to play in the coming round, from 0."""
        return int(lib.caucus_client_expert(self._client))

    @property
    def evaluate(self) -> list[int]:
        """The experts whose losses `observe()` wants of the coming round, in this order: all, or some (`evaluate`)."""
        which = ffi.new("uint32_t[]", self.plan.evaluate)
        _checked(lib.caucus_client_evaluate(self._client, which, len(which)), "evaluate")
        return list(which)

    @property
    def mixture(self) -> NDArray[np.float64]:
        """Stoch: the mixture in force, one value per expert; they sum to 1."""
        mixture = np.empty(self.plan.experts, dtype=np.float64)
        values = ffi.from_buffer("double[]", mixture, require_writable=True)
        _checked(lib.caucus_client_mixture(self._client, values, mixture.size), "mixture")
        return mixture

    @property
    def round(self) -> int:
        """Rounds observed so far."""
        return int(lib.caucus_client_round(self._client))

    @property
    def rounds_left(self) -> int:
        """Rounds that can be observed before a report is due; 0: a report or an announcement is due, or all is over."""
        return int(lib.caucus_client_rounds_left(self._client))

    def _check_gradient(self) -> None:
        if self._source is not None:
            self._source.check()

    def observe(self, losses: ArrayLike | None = None, *, rounds: int = 1) -> None:
        """Observe one round of losses, or several: rounds × experts. float32 and float64 are read where they lie.

        Of a plan with `evaluate` a row holds the losses of the experts in `self.evaluate`. Of a plan with convex losses
        there are no numbers to give, only how many rounds are over: their gradients are asked for later.
        """
        if self._source is not None:
            if losses is not None:
                raise refuse("losses", "are convex functions in this plan: observe() takes none, gradient gives them")
            _checked(lib.caucus_client_observe(self._client, ffi.NULL, rounds), f"losses of {rounds} rounds")
            return
        if losses is None:
            raise refuse("losses", f"are missing: expected {self.plan.evaluate} numbers a round, one per expert")
        rows = rows_of(losses, self.plan.evaluate)
        narrow = rows.dtype == np.float32
        values = ffi.from_buffer("float[]" if narrow else "double[]", rows)
        observe = lib.caucus_client_observe_f32 if narrow else lib.caucus_client_observe
        _checked(observe(self._client, values, rows.shape[0]), f"losses of {rows.shape[0]} rounds")

    def report(self) -> Report | None:
        """The report that is due, None if none is; asking again gives the same."""
        report = lib.caucus_client_report(self._client)
        self._check_gradient()
        if report == ffi.NULL:
            return None
        values = np.frombuffer(ffi.buffer(report.value, 8 * report.count), dtype=np.int64)
        kind = ASKS[report.kind]
        return Report(report.client, kind, report.first, report.block, report.epoch_or_leaf, values)

    @property
    def clips(self) -> tuple[int, int, int]:
        """Losses that were too low, too high, and no numbers; for this client alone."""
        low, high, nan = ffi.new("uint64_t *"), ffi.new("uint64_t *"), ffi.new("uint64_t *")
        lib.caucus_client_clips(self._client, low, high, nan)
        return int(low[0]), int(high[0]), int(nan[0])


class Coordinator:
    """The coordinator's machine (caucus/coordinator.h): give it reports, take announcements.

    When a step is decided (everybody has reported, or a deadline has passed) is the caller's business and must not
    depend on losses.
    """

    def __init__(self, plan: PlanOrPath, *, seed: int | None = None, key: Key | None = None) -> None:
        self.plan = as_plan(plan)
        ret = ffi.new("caucus_coordinator **")
        own = key_of(key, seed, 0)
        _checked(lib.caucus_coordinator_new(pointer(self.plan), key_pointer(own), ret), "coordinator")
        self._coordinator = owned(ret[0], lib.caucus_coordinator_free, pointer(self.plan))

    @classmethod
    def restore(cls, plan: PlanOrPath, state: bytes, *, seed: int | None = None, key: Key | None = None) -> Coordinator:
        """The coordinator that `save()` was asked of; the epochs after the one in hand draw from a new key."""
        coordinator = cls.__new__(cls)
        coordinator.plan = own_plan = as_plan(plan)
        ret = ffi.new("caucus_coordinator **")
        own = key_of(key, seed, 0)
        status = lib.caucus_coordinator_restore(pointer(own_plan), key_pointer(own), state, len(state), ret)
        _checked(status, "coordinator")
        coordinator._coordinator = owned(ret[0], lib.caucus_coordinator_free, pointer(own_plan))
        return coordinator

    def save(self) -> bytes:
        """The whole state, sums, noise and the epoch's key among it: for nobody else.

        Save right after `decide()`, before anything that depends on the decision leaves.
        """
        return _save(self._coordinator, lib.caucus_coordinator_state_bytes, lib.caucus_coordinator_save)

    @property
    def announcement(self) -> Announcement:
        """The announcement in force; the first one is there from the start."""
        a = lib.caucus_coordinator_announcement(self._coordinator)
        listed = tuple(int(a.list[i]) for i in range(a.listed))
        return Announcement(a.serial, a.epoch, a.block, a.expert, ASKS[a.ask], a.leaf, listed)

    def receive(self, report: Report) -> None:
        """Count one report; one that was counted before changes nothing."""
        values = np.ascontiguousarray(report.values, dtype=np.int64)
        r = ffi.new("caucus_report *")
        r.client, r.kind, r.first, r.block = report.client, ask_value(report.kind), report.first, report.block
        r.epoch_or_leaf, r.count = report.epoch_or_leaf, values.size
        r.value = ffi.from_buffer("int64_t[]", values)
        status = lib.caucus_coordinator_receive(self._coordinator, r)
        if status not in (lib.CAUCUS_OK, lib.CAUCUS_E_DUPLICATE):
            raise failure(status, new_error(), f"report of client {report.client}: ")

    @property
    def waiting(self) -> int:
        """Clients whose answer to the announcement in force has not come yet."""
        return int(lib.caucus_coordinator_waiting(self._coordinator))

    def decide(self) -> Announcement:
        """Decide the step on what has come, and make the next announcement. This is the release: no way back."""
        _checked(lib.caucus_coordinator_decide(self._coordinator), "decide")
        return self.announcement

    @property
    def selections(self) -> int:
        """Selections made so far."""
        return int(lib.caucus_coordinator_selections(self._coordinator))

    @property
    def looks(self) -> list[Look]:
        """What was shown of the losses, phase by phase, the latest first.

        Of a plan with `show_loss`, or of one whose clients send noisy sums.
        """
        ret, k = [], ffi.new("caucus_look *")
        for index in range(lib.caucus_coordinator_looks(self._coordinator)):
            lib.caucus_look_init(k)
            _checked(lib.caucus_coordinator_look(self._coordinator, index, k), "looks")
            ret.append(Look(k.phase, k.expert, k.clients, k.loss, k.low, k.high))
        return ret


def rows_of(losses: ArrayLike, experts: int) -> NDArray[Any]:
    """Losses as rows of `experts` numbers, float32 or float64, without a copy where they are that already."""
    rows = numbers_of(losses)
    if rows.ndim == 1:
        rows = rows[np.newaxis, :]
    if rows.ndim != 2 or rows.shape[1] != experts:
        raise refuse("", f"losses: shape {np.shape(losses)} — expected {experts} numbers a round, one per expert")
    return rows
