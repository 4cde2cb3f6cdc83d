# SPDX-License-Identifier: Apache-2.0
"""What the library refuses, as exceptions: the program's words, and its kinds (exit codes 1, 2 and 3)."""

from __future__ import annotations

import os
from typing import Any

from ._native import ffi, lib

_NAMES: dict[int, str] = {value: name for name, value in ffi.typeof("caucus_status").relements.items()}
# What the program ends for with exit code 2: wrong use or input.
_INPUT = frozenset(
    f"CAUCUS_E_{name}" for name in ("RANGE", "INFEASIBLE", "OVERFLOW", "FORMAT", "PATH", "EXISTS", "CONFLICT")
)


class Error(Exception):
    """Something failed. Coming again may help (the program's exit code 1)."""

    status: str
    """What kind of failure, as the C interface calls it: "CAUCUS_E_BUSY"."""
    field: str
    """The setting at fault, "" if none."""
    os_error: int
    """The errno of what the system refused, 0 if it did not."""

    def __init__(self, line: str, status: str = "", field: str = "", os_error: int = 0) -> None:
        super().__init__(line)
        self.status, self.field, self.os_error = status, field, os_error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.field, self.os_error)


class InputError(Error, ValueError):
    """What was given cannot be used (the program's exit code 2)."""


class RefusedError(Error):
    """Refused for good: neither coming again nor starting again helps (the program's exit code 3)."""


class OutsideWarning(UserWarning):
    """Values were no numbers, or outside their public range. How many is not private."""


def new_error() -> Any:
    """An empty caucus_error, for a call."""
    return ffi.new("caucus_error *")


def _text(field: Any) -> str:
    text: str = ffi.string(field).decode("utf-8", "replace")
    return text


def line_of(status: int, error: Any) -> str:
    """The one line for people: field, text, what the system said, what would help."""
    field, text, hint = _text(error.field).replace("-", "_"), _text(error.text), _text(error.hint)
    line = text or ffi.string(lib.caucus_status_text(status)).decode()
    if field:
        line = f"{field}{line}" if line.startswith(":") else f"{field} {line}"
    if error.os_error != 0:
        line += f": {os.strerror(error.os_error)}"
    return f"{line} — {hint}" if hint else line


def failure(status: int, error: Any, before: str = "") -> Exception:
    """The exception for a status and its error; `before` is put in front of the line."""
    name = _NAMES.get(status, str(status))
    if name == "CAUCUS_E_MEMORY":
        return MemoryError(line_of(status, error))
    kind = RefusedError if lib.caucus_status_is_final(status) else InputError if name in _INPUT else Error
    return kind(before + line_of(status, error), name, _text(error.field).replace("-", "_"), error.os_error)


def check(status: int, error: Any, before: str = "") -> None:
    """Raise what a status says, unless it says that all is well."""
    if status != lib.CAUCUS_OK:
        raise failure(status, error, before)


def refuse(field: str, words: str) -> InputError:
    """The exception for what this binding refuses by itself, as the library would say it."""
    return InputError(f"{field} {words}" if field else words, "CAUCUS_E_RANGE", field)


def owned(pointer: Any, free: Any, *kept: object) -> Any:
    """A pointer that is freed when nobody has it any more, before anything of `kept`, which it borrows from."""

    def end(last: Any, _kept: tuple[object, ...] = kept) -> None:
        free(last)

    return ffi.gc(pointer, end)


def take_text(pointer: Any, size: Any) -> str:
    """Text that a call has allocated (char **, size_t *), which is freed."""
    try:
        text: str = ffi.unpack(pointer[0], size[0]).decode()
    finally:
        lib.native_free(pointer[0])
    return text
