# SPDX-License-Identifier: Apache-2.0
"""Keywords as the words that the program reads: front_load=True is {"front-load", "true"}."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import refuse
from ._native import ffi

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack  # noqa: PLC0414 (for other modules)
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """What 3.10 has not: whoever asks for the types of `**settings` at run time gets the dictionary's name."""

        def __class_getitem__(cls, kind: object) -> object:
            return kind


def _one(name: str, value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "infinite" if value == math.inf else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)  # type: ignore[no-any-return]
    if isinstance(value, str):
        return value
    raise refuse(name, f"{value!r}: must be a number or a word")


def text_of(name: str, value: object) -> str:
    """A value as it would be written behind the program's flag; a list is written with commas."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence):
        return _one(name, value)
    pieces = [_one(name, piece) for piece in value]
    for piece in pieces:
        if "," in piece or piece.startswith("@"):
            raise refuse(name, f"'{piece}': has a comma or begins with @")
    return ",".join(pieces)


class Named:
    """Settings as an array of caucus_named, with the texts that it points to."""

    def __init__(self, settings: Mapping[str, object], known: Mapping[str, object], what: str) -> None:
        self._texts: list[Any] = []
        given = {name: value for name, value in settings.items() if value is not None}
        for name in settings:
            if name not in known:
                raise TypeError(f"{what}() got an unexpected keyword argument '{name}'")
        self.array = ffi.new("caucus_named[]", len(given))
        self.count = len(given)
        for at, (name, value) in enumerate(given.items()):
            text = text_of(name, value)
            if "\0" in text:
                raise refuse(name, "holds a zero character")
            self.array[at].name = self._keep(name.replace("_", "-"))
            self.array[at].value = self._keep(text)

    def _keep(self, text: str) -> Any:
        self._texts.append(ffi.new("char[]", text.encode()))
        return self._texts[-1]
