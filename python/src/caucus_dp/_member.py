# SPDX-License-Identifier: Apache-2.0
"""A client of a live federation that plays rounds: a loop over them, blocking or with asyncio (`caucus join`)."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._connection import Connection, now_ms, split_address, wait_for
from ._errors import Error, refuse
from ._link import Link
from ._machines import rows_of
from ._native import ffi
from ._plan import Plan

_FAREWELL_MS = 2000  # at most, and none if the coordinator listens
LossMapping = Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float]
"""From experts, by number or name, to losses: keys of a mapping are invariant, so each kind is named."""


class Round:
    """One round: play its expert, then say what every expert would have cost."""

    def __init__(self, member: Member, number: int, expert: int, evaluate: list[int]) -> None:
        """For this module."""
        self._member = member
        self.number = number
        """From 1."""
        self.expert = expert
        """The expert to play, from 0."""
        self.evaluate = evaluate
        """The experts whose losses are wanted, in this order: all, or some where the plan says so."""
        self.observed = False
        """Whether its losses have been observed."""

    @property
    def name(self) -> str | None:
        """What the expert is called; None: it has only a number."""
        names = self._member.names
        return names[self.expert] if names is not None else None

    @property
    def mixture(self) -> NDArray[np.float64]:
        """Where a mixture of experts is played (stoch): how much of each, while the round is not observed."""
        if self.observed:
            raise Error(f"round {self.number}: its losses were observed before", "CAUCUS_E_ORDER")
        return self._member._link.mixture

    def observe(self, losses: ArrayLike | LossMapping | None = None) -> None:
        """The losses of this round: one number per expert, or a mapping from expert (number or name) to loss.

        Of a plan with `evaluate` those of the experts in `evaluate`, in that order. Of a plan with convex losses none:
        it says that the round is over, and `gradient` is asked about it when a report is made.
        """
        self._member._observe(self, losses)

    def __repr__(self) -> str:
        return f"<round {self.number}: expert {self.expert}{'' if self.name is None else f' {self.name!r}'}>"


class Member:
    """A client's place in a federation, made by `join()`: iterate over its rounds."""

    def __init__(self, link: Link, give_up: float | None) -> None:
        """For this module."""
        self._link = link
        self._give_up = give_up
        self._connection: Connection | None = None
        self._current: Round | None = None
        self._left = False
        self._last: tuple[int, bool, dict[str, int]] | None = None  # what can be asked after it has left
        self.names = link.plan.names
        """What the experts are called; None: they have numbers."""

    @property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self._link.plan

    @property
    def index(self) -> int:
        """The number of this client, from 1."""
        return self._link.index

    @property
    def round(self) -> int:
        """Rounds observed so far; after a restart the next one is the one after these."""
        return self._link.round if self._last is None else self._last[0]

    @property
    def done(self) -> bool:
        """Whether the run is over: all rounds are played and every report is counted or no longer wanted."""
        return self._link.done if self._last is None else self._last[1]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers for people: reports, reports sent again, bytes_sent, bytes_received."""
        return self._link.counts if self._last is None else dict(self._last[2])

    # Clients at their own pace (_device.py). They are named here, too, because a plan file says which of the two join()
    # gives, and whoever checks types has not read it.

    @property
    def expert(self) -> int | None:
        """At its own pace: the expert to play, from 0; None until the coordinator has said one."""
        raise self._in_step()

    @property
    def expert_name(self) -> str | None:
        """At its own pace: what it is called; None where experts have numbers, or before the first."""
        raise self._in_step()

    @property
    def heard(self) -> int:
        """At its own pace: announcements so far; it grows with every decision, whether the expert changes or not."""
        raise self._in_step()

    def slot(self, number: int) -> None:
        """At its own pace, and with a seed: which slot it is."""
        raise self._in_step()

    def observe(self, losses: ArrayLike | LossMapping) -> None:
        """At its own pace: losses that were seen now. Elsewhere a round has them: `round.observe()`."""
        raise self._in_step()

    def wait(self, seconds: float = 0) -> bool:
        """At its own pace: talk with the coordinator; whether the expert has changed."""
        raise self._in_step()

    async def wait_async(self, seconds: float = 0) -> bool:
        """At its own pace: the same without blocking."""
        raise self._in_step()

    @staticmethod
    def _in_step() -> Error:
        return Error("this plan's clients are in step: iterate over rounds, and observe() those", "CAUCUS_E_ORDER")

    def _observe(self, round: Round, losses: ArrayLike | LossMapping | None) -> None:
        if self._left:
            raise Error("this client has left", "CAUCUS_E_ORDER")
        if round.observed or round is not self._current:
            raise Error(f"round {round.number}: its losses were observed before", "CAUCUS_E_ORDER")
        row = self._values(round, losses)
        round.observed = True
        try:
            self._link.observe(row)
        except OSError as why:  # an announcement that waited for this round was none that a coordinator makes
            self._hang_up(why)

    def _values(self, round: Round, losses: ArrayLike | LossMapping | None) -> Any:
        """One round of losses as the library reads them."""
        if self._link.convex:
            if losses is not None:
                raise refuse("losses", "are convex functions in this plan: observe() takes none, gradient gives them")
            return ffi.NULL
        if losses is None:
            raise refuse("losses", f"are missing: expected {self.plan.evaluate} numbers, one per expert")
        row = rows_of(self._row(round, losses) if isinstance(losses, Mapping) else losses, self.plan.evaluate)
        if row.shape[0] != 1:
            raise refuse("", f"losses: {row.shape[0]} rounds — expected those of one")
        return ffi.from_buffer("double[]", row if row.dtype == np.float64 else row.astype(np.float64))

    def _number(self, expert: object) -> int:
        """The number of an expert that is a mapping's key."""
        if isinstance(expert, str):
            if self.names is None or expert not in self.names:
                raise refuse("losses", f"'{expert}': no expert is called so")
            return self.names.index(expert)
        if isinstance(expert, bool) or not isinstance(expert, int | np.integer):
            raise refuse("losses", f"{expert!r}: must be an expert's number or name")
        if not 0 <= expert < self.plan.experts:
            raise refuse("losses", f"{expert}: experts are 0 to {self.plan.experts - 1}")
        return int(expert)

    def _row(self, round: Round, losses: LossMapping) -> list[float]:
        row: dict[int, float] = {}
        for expert, loss in losses.items():
            number = self._number(expert)
            if number in row:
                raise refuse("losses", f"of expert {number} are there twice, by its number and its name")
            try:
                row[number] = float(loss)
            except (TypeError, ValueError, OverflowError):
                raise refuse("losses", f"of expert {expert!r}: {loss!r} is no number") from None
        missing = [str(i) for i in round.evaluate if i not in row]
        if missing:
            wants = "every expert" if self.plan.evaluate == self.plan.experts else "each of round.evaluate"
            raise refuse("losses", f"of experts {', '.join(missing[:8])} are missing: {wants} needs one")
        return [row[i] for i in round.evaluate]

    def _hang_up(self, why: OSError) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._link.lost(why)

    def _turn(self) -> None:
        """Everything that can be done without waiting, but for dialling."""
        if self._connection is None:
            return
        try:
            self._connection.move()
            overdue = self._link.overdue
            if overdue is not None:
                raise TimeoutError(overdue)
        except OSError as why:
            self._hang_up(why)

    def _next(self) -> Round | None:
        """The next round, if it can be played now; StopIteration after the last."""
        if self._left:
            raise Error("this client has left", "CAUCUS_E_ORDER")
        if self._current is not None and not self._current.observed:
            raise Error(f"round {self._current.number}: observe its losses before the next", "CAUCUS_E_ORDER")
        self._turn()  # reports of the last round leave before the next is played
        if self._link.ready:
            self._current = Round(self, self._link.round + 1, self._link.expert, self._link.evaluate)
            return self._current
        if self._link.done:
            raise StopIteration
        self._link.check_refused()
        self._link.check_missing(self._give_up)
        return None

    def _dial(self, address: str, found: Sequence[tuple[Any, ...]] | OSError) -> None:
        """Begin to connect to what was found under an address."""
        if isinstance(found, OSError):
            self._link.lost(found)
            return
        try:
            self._connection = Connection(self._link, address, found)
        except OSError as why:
            self._link.lost(why)

    # A blocking loop.

    def __enter__(self) -> Member:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.leave(failed=kind is not None)

    def __iter__(self) -> Member:
        return self

    def __next__(self) -> Round:
        while True:
            found = self._next()
            if found is not None:
                return found
            self._dial_or_wait(self._seconds())

    def _dial_or_wait(self, seconds: float) -> None:
        """Dial if it is time for that; otherwise wait until something happens."""
        address = self._link.next_address()
        if address is None:
            self._wait(seconds)
            return
        host, port = split_address(address)
        try:
            self._dial(address, socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as why:
            self._dial(address, why)

    def _seconds(self) -> float:
        """How long to sleep; with a limit for giving up not much beyond it."""
        longest = 60.0 if self._give_up is None else max(self._give_up / 4, 0.05)
        here = 60.0 if self._connection is None else self._connection.wait_seconds
        return min(self._link.wait_seconds, longest, here)

    def _wait(self, seconds: float) -> None:
        connection = self._connection
        if connection is None or not (connection.wants_read or connection.wants_write):
            time.sleep(seconds)
        else:
            wait_for(connection.socket, connection.wants_read, connection.wants_write, seconds)

    def leave(self, *, failed: bool = False) -> None:
        """Save the state, say goodbye, close. Leaving twice changes nothing.

        After a gradient that has failed nothing is saved and nothing said: what was made of it must not count.
        """
        if self._part(failed):
            try:
                end = now_ms() + _FAREWELL_MS
                while self._saying(end):
                    self._wait(0.05)
            finally:
                self._close()

    def _part(self, failed: bool) -> bool:
        """Save the state, and put a farewell behind what is being sent; whether it has to be sent still."""
        if self._left:
            return False
        self._left = True
        self._last = (self._link.round, self._link.done, self._link.counts)
        try:
            self._link.say_clips()
            if not self._link.failed:
                self._link.leave("done" if self._link.done else "failed" if failed else "stopped")
                return True
        except BaseException:
            self._close()
            raise
        self._close()
        return False

    def _saying(self, end: int) -> bool:
        """Whether words are still on their way, and it is not too late."""
        self._turn()
        return self._connection is not None and self._connection.wants_write and now_ms() < end

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._link.close()

    # asyncio.

    async def __aenter__(self) -> Member:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._part(kind is not None):
            try:
                end = now_ms() + _FAREWELL_MS
                while self._saying(end):
                    await self._await(0.05)
            finally:
                self._close()

    def __aiter__(self) -> Member:
        return self

    async def __anext__(self) -> Round:
        while True:
            try:
                found = self._next()
            except StopIteration:
                raise StopAsyncIteration from None
            if found is not None:
                await asyncio.sleep(0)  # others have their turn, however many rounds can be played
                return found
            await self._dial_or_await(self._seconds())

    async def _dial_or_await(self, seconds: float) -> None:
        address = self._link.next_address()
        if address is None:
            await self._await(seconds)
            return
        host, port = split_address(address)
        try:
            loop = asyncio.get_running_loop()
            self._dial(address, await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as why:
            self._dial(address, why)

    async def _await(self, seconds: float) -> None:
        connection, loop, woken = self._connection, asyncio.get_running_loop(), asyncio.Event()
        if connection is None:
            await asyncio.sleep(seconds)
            return
        handle = connection.socket.fileno()
        if connection.wants_read:
            loop.add_reader(handle, woken.set)
        if connection.wants_write:
            loop.add_writer(handle, woken.set)
        try:
            await asyncio.wait_for(woken.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            loop.remove_reader(handle)
            loop.remove_writer(handle)
