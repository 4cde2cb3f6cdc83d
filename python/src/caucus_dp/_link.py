# SPDX-License-Identifier: Apache-2.0
"""libcaucus-link in Python: protocol, back-off, patience, state and the device's ledger are its own.

Nothing here waits. Whoever waits, for a blocking loop or for asyncio, is in _member.py and _device.py.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._connection import READ_BYTES, now_ms
from ._errors import Error, RefusedError, check, failure, new_error, owned
from ._gradient import GradientSource
from ._keys import Key, key_of
from ._keys import pointer as key_pointer
from ._lost import Notices, refuses, words_of
from ._native import ffi, lib
from ._plan import Plan, pointer
from ._tls import Credentials, log


@dataclass(frozen=True)
class Ledger:
    """The device's own ledger: its file, and the budget of a new one (None: it is there)."""

    path: str | os.PathLike[str]
    epsilon: float | None
    delta: float


class Link:
    """A caucus_link with the file of its state."""

    def __init__(
        self,
        addresses: list[str],
        plan: Plan,
        client: int,
        *,
        credentials: Credentials | None,
        state: str | os.PathLike[str] | None,
        seed: int | None,
        key: Key | None,
        new_device: bool,
        ledger: Ledger | None = None,
        tick: int = 0,
        source: GradientSource | None = None,
    ) -> None:
        self.plan, self.index, self.credentials, self.addresses = plan, client, credentials, addresses
        self.tick = tick
        """Bytes leave on multiples of so many milliseconds of this machine's clock; 0: as soon as they can."""
        self._leave_at = 0  # the tick that what is to be sent waits for; 0: nothing waits
        self._source = source
        self._opened: Any = None
        self.accepted = False  # this client's certificate, by some coordinator
        self._state = state
        self._error = new_error()
        self._why: Exception | None = None  # the last refusal
        self._notices = Notices()
        self._journal = ffi.NULL
        if state is not None:
            ret = ffi.new("caucus_journal **")
            check(lib.caucus_journal_open(os.fsencode(state), ret, self._error), self._error)
            self._journal = ffi.gc(ret[0], lib.caucus_journal_close)
        try:
            self._opened = self._open(key_of(key, seed, client), new_device)
            if ledger is not None:
                self._reserve(ledger, seed is not None)
        except BaseException:
            self.close()
            raise

    def _open(self, key: Key, new_device: bool) -> Any:
        settings, ret = ffi.new("caucus_link_settings *"), ffi.new("caucus_link **")
        kept, size = ffi.new("uint8_t **"), ffi.new("size_t *")
        texts = [ffi.new("char[]", address.encode()) for address in self.addresses]
        addresses = ffi.new("char *[]", texts)
        lib.caucus_link_settings_init(settings)
        settings.plan, settings.index, settings.key = pointer(self.plan), self.index, key_pointer(key)
        settings.new_device = new_device
        settings.address, settings.addresses = addresses, len(texts)
        if self._journal != ffi.NULL:
            check(lib.caucus_journal_read(self._journal, kept, size, self._error), self._error)
            settings.state, settings.state_bytes = kept[0], size[0]
        self._saver = ffi.new("native_saver *", {"journal": self._journal, "failed": 0})
        if self._journal != ffi.NULL or self._source is not None:
            settings.save, settings.user = ffi.addressof(lib, "native_save"), self._saver
        try:
            before = f"state {os.fspath(self._state)}: " if self._state is not None and size[0] > 0 else ""
            check(lib.caucus_link_new(settings, ret, self._error), self._error, before)
        finally:
            if kept[0] != ffi.NULL:
                lib.native_wipe(kept[0], size[0])
                lib.native_free(kept[0])
        if self._source is not None:
            self._source.saver = self._saver
            lib.caucus_link_set_gradient(ret[0], lib.native_gradient, self._source.handle)
        return owned(ret[0], lib.caucus_link_free, pointer(self.plan), self._journal, self._saver, self._source)

    def _reserve(self, ledger: Ledger, seeded: bool) -> None:
        """Before anything is sent: the run has its place in the device's own ledger."""
        path, epsilon, delta = os.fsencode(ledger.path), ledger.epsilon, ledger.delta
        given = (math.nan if epsilon is None else epsilon, delta)
        status = lib.caucus_journal_reserve(
            self._journal, pointer(self.plan), self.index, seeded, path, *given, self._error
        )
        check(status, self._error)

    @property
    def _link(self) -> Any:
        if self._opened is None:
            raise Error("this client has left", "CAUCUS_E_ORDER")
        return self._opened

    @property
    def convex(self) -> bool:
        """Whether losses are functions, known by their gradients."""
        return self._source is not None

    @property
    def failed(self) -> bool:
        """Whether a gradient has failed: what was made of it must neither be kept nor sent."""
        return self._source is not None and self._source.failed

    def close(self) -> None:
        """Free the link and give the lock on the state back."""
        if self._opened is not None:
            ffi.release(self._opened)
            self._opened = None
        if self._journal != ffi.NULL:
            ffi.release(self._journal)
            self._journal = ffi.NULL

    def _check(self, status: int) -> None:
        """Raise what concerns the client; OSError for what concerns the connection alone."""
        if self._source is not None:
            self._source.check()
        if status == lib.CAUCUS_OK:
            return
        error = failure(status, self._error)
        if status == lib.CAUCUS_E_SAVE:
            code = lib.caucus_journal_errno(self._journal) if self._journal != ffi.NULL else 0
            said = f": {os.strerror(code)}" if code else ""
            raise Error(f"state {os.fspath(self._state or '')}: {error}{said}", "CAUCUS_E_SAVE", "state", code)
        if isinstance(error, MemoryError):
            raise error
        self._why = error
        raise ConnectionError(str(error)) from error

    def connected(self) -> None:
        """A connection is up, handshake included."""
        lib.caucus_link_connected(self._link, now_ms())

    def receive(self, data: bytes) -> None:
        """Bytes from the coordinator, which therefore accepts this client's certificate."""
        self.accepted = True
        self._check(lib.caucus_link_receive(self._link, data, len(data), self._error))
        if not lib.caucus_link_late(self._link):
            self._notices.forget()

    def observe(self, row: Any) -> None:
        """One round of losses; NULL where they are functions."""
        self._check(lib.caucus_link_observe(self._link, row, self._error))

    def observe_rows(self, rows: Any, count: int) -> None:
        """Several rounds of losses at once; at its own pace they are saved once."""
        self._check(lib.caucus_link_observe_rows(self._link, rows, count, self._error))

    def slot(self, number: int) -> None:
        """Which slot of the device's clock it is."""
        self._check(lib.caucus_link_slot(self._link, number, self._error))

    def lost(self, why: OSError) -> None:
        """The connection is gone, or the attempt has failed; it is said why, and tried again unless that is final."""
        said = ffi.string(lib.caucus_link_last_words(self._link)).decode("utf-8", "replace")
        words = words_of(why, said)
        final = isinstance(why.__cause__, RefusedError)  # the coordinator's word; else TLS's:
        if refuses(why, self.accepted, self.credentials):
            final = True
            lib.caucus_link_refuse(self._link)
            self._why = RefusedError(f"{self._notices.address}: {words}", "CAUCUS_E_REFUSED")
            self._why.__cause__ = why
        self._leave_at = 0
        lib.caucus_link_disconnected(self._link, now_ms())
        pause = None if final else max(lib.caucus_link_wait_ms(self._link, now_ms()), 0) / 1000
        self._notices.say(why, words, pause)

    def check_refused(self) -> None:
        """Raise why every address has refused for good, if all have."""
        if lib.caucus_link_refused(self._link):
            words = f"every address has refused this client for good: {','.join(self.addresses)}"
            raise self._why if isinstance(self._why, RefusedError) else RefusedError(words, "CAUCUS_E_REFUSED")

    def check_missing(self, give_up: float | None) -> None:
        """Raise if there has been no coordinator for so many seconds."""
        if give_up is not None and lib.caucus_link_missing_ms(self._link, now_ms()) > give_up * 1000:
            what = "announcement" if lib.caucus_link_late(self._link) else "coordinator"
            words = f"no {what} at {','.join(self.addresses)} for {give_up:g} s"
            raise Error(words, "CAUCUS_E_NETWORK") from self._notices.last

    def say_clips(self) -> None:
        """What was wrong with losses, for this device's owner alone (the log "caucus_dp")."""
        low, high, nan = (ffi.new("uint64_t *") for _ in range(3))
        lib.caucus_client_clips(lib.caucus_link_client(self._link), low, high, nan)
        settings = lib.caucus_plan_settings(pointer(self.plan))
        if low[0] + high[0] > 0:
            words = "%d losses were outside [%g, %g] and were moved to its border"
            log.warning(words, low[0] + high[0], settings.lo, settings.hi)
        if nan[0] > 0:
            log.warning("%d losses were not numbers and counted as %g, the worst", nan[0], settings.hi)

    def leave(self, words: str) -> None:
        """Save the state as it is, and put a farewell behind what is being sent."""
        self.tick = 0  # a farewell tells nothing
        self._check(lib.caucus_link_leave(self._link, words.encode(), self._error))

    def to_send(self) -> bytes:
        """Bytes for the coordinator."""
        size = ffi.new("size_t *")
        data = lib.caucus_link_to_send(self._link, size)
        if data == ffi.NULL or not self._may_leave():
            return b""
        return bytes(ffi.buffer(data, min(size[0], READ_BYTES)))

    def _may_leave(self) -> bool:
        """Whether what is to be sent may leave: with ticks it waits for the first one after it was there."""
        if self.tick == 0:
            return True
        if self._leave_at == 0:
            self._leave_at = (now_ms() // self.tick + 1) * self.tick
        return now_ms() >= self._leave_at

    def sent(self, count: int) -> None:
        """So many of them are on their way."""
        lib.caucus_link_sent(self._link, count)
        if lib.caucus_link_to_send(self._link, ffi.new("size_t *")) == ffi.NULL:
            self._leave_at = 0

    def next_address(self) -> str | None:
        """The address to dial now; None: not now."""
        address = lib.caucus_link_next_address(self._link, now_ms())
        if address == ffi.NULL:
            return None
        self._notices.address = ffi.string(address).decode()
        if self.credentials is not None and self.credentials.renew():
            self.accepted = False
        return self._notices.address

    @property
    def overdue(self) -> str | None:
        """What has taken too long, the connection or an announcement, in words; None: nothing."""
        overdue = lib.caucus_link_timeout(self._link, now_ms())
        if overdue == lib.CAUCUS_LINK_NO_ANNOUNCEMENT:
            deadline = lib.caucus_link_deadline_ms(self._link) / 1000
            return f"no announcement after the deadline ({deadline:g} s): it hangs, is gone, or waits for a quorum"
        return None if overdue == lib.CAUCUS_LINK_IN_TIME else "no answer"

    @property
    def wait_seconds(self) -> float:
        """How long one may sleep if nothing else happens; a minute at most."""
        wait = lib.caucus_link_wait_ms(self._link, now_ms())
        longest = 60.0 if wait < 0 else min(wait / 1000, 60.0)
        return longest if self._leave_at == 0 else min(longest, max(self._leave_at - now_ms(), 0) / 1000)

    @property
    def wants(self) -> bool:
        """False while so many announcements wait for their losses that no more should be read."""
        return bool(lib.caucus_link_wants(self._link))

    @property
    def ready(self) -> bool:
        """Whether the next round can be played."""
        return bool(lib.caucus_link_ready(self._link))

    @property
    def done(self) -> bool:
        """All rounds are played and every report is counted or no longer wanted."""
        return bool(lib.caucus_link_done(self._link))

    @property
    def heard(self) -> int:
        """The serial number after that of the newest announcement."""
        return int(lib.caucus_client_heard(lib.caucus_link_client(self._link)))

    @property
    def expert(self) -> int:
        """The expert of the coming round."""
        return int(lib.caucus_link_expert(self._link))

    @property
    def mixture(self) -> NDArray[np.float64]:
        """The mixture in force."""
        mixture = np.empty(self.plan.experts, dtype=np.float64)
        values = ffi.from_buffer("double[]", mixture, require_writable=True)
        self._check(lib.caucus_client_mixture(lib.caucus_link_client(self._link), values, mixture.size))
        return mixture

    @property
    def evaluate(self) -> list[int]:
        """The experts to evaluate in the coming round."""
        which = ffi.new("uint32_t[]", self.plan.evaluate)
        self._check(lib.caucus_link_evaluate(self._link, which, len(which)))
        return list(which)

    @property
    def round(self) -> int:
        """Rounds observed so far."""
        return int(lib.caucus_link_round(self._link))

    @property
    def counts(self) -> dict[str, int]:
        """Reports sent, reports sent again, bytes."""
        counts = ffi.new("caucus_link_counts *")
        lib.caucus_link_counts_init(counts)
        check(lib.caucus_link_count(self._link, counts), self._error)
        return {name: int(getattr(counts, name)) for name in ("reports", "again", "bytes_sent", "bytes_received")}
