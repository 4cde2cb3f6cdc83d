# SPDX-License-Identifier: Apache-2.0
"""What coordinator and clients say to each other, as values and as bytes, for transports of one's own."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, refuse
from ._native import ffi, lib

ASKS: dict[int, str] = {
    value: name.removeprefix("CAUCUS_ASK_").lower() for name, value in ffi.typeof("caucus_ask").relements.items()
}
_ASK_VALUES = {name: value for value, name in ASKS.items()}
# Little-endian. An announcement: mark, serial, epoch, block, expert, leaf, ask, how many listed; then these, 4 bytes
# each. A report: mark, client, kind, how many values, first, block, epoch or leaf; then the values, 8 bytes each.
_ANNOUNCEMENT = struct.Struct("<4sQQQIIBB")
_REPORT = struct.Struct("<4sIBIQQQ")
_MARKS = (b"cA\x00\x01", b"cR\x00\x01")


def ask_value(word: str) -> int:
    """What the library calls it."""
    if word not in _ASK_VALUES:
        raise refuse("ask", f"'{word}': must be one of {', '.join(_ASK_VALUES)}")
    return int(_ASK_VALUES[word])


def _unpack(layout: struct.Struct, mark: bytes, data: bytes, what: str) -> tuple[int, ...]:
    if len(data) < layout.size or data[:4] != mark:
        raise InputError(f"{what}: {len(data)} bytes that are none", "CAUCUS_E_FORMAT")
    return layout.unpack_from(data)[1:]


def _word(value: int, what: str) -> str:
    if value not in ASKS:
        raise InputError(f"{what}: asks for {value}, which nobody asks for", "CAUCUS_E_FORMAT")
    return ASKS[value]


@dataclass(frozen=True)
class Announcement:
    """What the coordinator says to every client."""

    serial: int
    """0, 1, 2, ...: position in the coordinator's sequence of announcements."""
    epoch: int
    block: int
    """The block (svt, hedge) or phase (stoch) that is asked about."""
    expert: int
    """In force; for stoch the last one chosen."""
    ask: str
    """What every client is to answer: "nothing", "cost", "sums", "leaf", "vote", "shortlist"."""
    leaf: int = 0
    listed: tuple[int, ...] = ()
    """shortlist: the experts whose sums are wanted."""

    def to_bytes(self) -> bytes:
        """As bytes, for a transport of one's own. They are not the frames of docs/PROTOCOL.md."""
        count = len(self.listed)
        if count > lib.CAUCUS_SHORTLIST_MOST:
            raise refuse("listed", f"{count} experts: at most {lib.CAUCUS_SHORTLIST_MOST}")
        try:
            head = _ANNOUNCEMENT.pack(
                _MARKS[0], self.serial, self.epoch, self.block, self.expert, self.leaf, ask_value(self.ask), count
            )
            return head + struct.pack(f"<{count}I", *self.listed)
        except struct.error as error:
            raise refuse("", f"announcement {self.serial}: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Announcement:
        """What `to_bytes()` was asked of. Bytes that are no announcement are refused; a machine judges the rest."""
        what = "announcement"
        serial, epoch, block, expert, leaf, ask, count = _unpack(_ANNOUNCEMENT, _MARKS[0], data, what)
        if count > lib.CAUCUS_SHORTLIST_MOST or len(data) != _ANNOUNCEMENT.size + 4 * count:
            raise InputError(f"{what}: {len(data)} bytes for a list of {count} experts", "CAUCUS_E_FORMAT")
        listed = struct.unpack_from(f"<{count}I", data, _ANNOUNCEMENT.size)
        return cls(serial, epoch, block, expert, _word(ask, what), leaf, listed)


@dataclass(frozen=True)
class Look:
    """What was shown of the losses of one phase, with noise."""

    phase: int
    """Whose losses these are."""
    expert: int
    """That was in force before they were learnt from."""
    clients: int
    """That reported."""
    loss: float
    """Its mean loss, in the units of the losses."""
    low: float
    """It lies between this"""
    high: float
    """and this with probability 0.95: of the losses that were counted, not of losses to come."""


@dataclass(frozen=True, eq=False)
class Report:
    """What one client answers: an immutable item, counted at most once, sent again as it was."""

    client: int
    kind: str
    first: int
    block: int
    epoch_or_leaf: int
    values: NDArray[np.int64]
    """Sums in steps of the plan's grid, or an expert's number (vote): a copy that cannot be written to."""

    def __post_init__(self) -> None:
        own = np.array(self.values, dtype=np.int64)
        own.setflags(write=False)
        object.__setattr__(self, "values", own)

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew, for an array that was pickled can be written to.
        return Report, (self.client, self.kind, self.first, self.block, self.epoch_or_leaf, self.values)

    def to_bytes(self) -> bytes:
        """As bytes, for a transport of one's own: the same bytes each time, noise and all."""
        values = np.ascontiguousarray(self.values, dtype="<i8")
        try:
            head = _REPORT.pack(
                _MARKS[1], self.client, ask_value(self.kind), values.size, self.first, self.block, self.epoch_or_leaf
            )
        except struct.error as error:
            raise refuse("", f"report of client {self.client}: {error}") from None
        return head + values.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Report:
        """What `to_bytes()` was asked of. Bytes that are no report are refused; the coordinator's machine judges the
        rest, but not whether it is the client that it says: that is for the transport to know.
        """
        client, kind, count, first, block, epoch_or_leaf = _unpack(_REPORT, _MARKS[1], data, "report")
        if len(data) != _REPORT.size + 8 * count:
            raise InputError(f"report: {len(data)} bytes for {count} values", "CAUCUS_E_FORMAT")
        values = np.frombuffer(data, dtype="<i8", offset=_REPORT.size)
        return cls(client, _word(kind, "report"), first, block, epoch_or_leaf, values)
