# SPDX-License-Identifier: Apache-2.0
"""Keys: secrets from the operating system, or from a seed."""

from __future__ import annotations

from typing import Any

from ._errors import check, new_error, refuse
from ._native import ffi, lib
from ._numbers import whole


class Key:
    """A secret from which noise is drawn; wiped when it goes.

    `Key()` comes from the operating system. `Key(seed=1)` is the key of a simulation or a test: NOT PRIVATE, since
    whoever knows the seed can subtract the noise.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._key = ffi.gc(ffi.new("caucus_key *"), lib.caucus_key_wipe)
        if seed is None:
            check(lib.caucus_key_generate(self._key), new_error())
        else:
            lib.caucus_key_from_seed(whole("seed", seed, 0, (1 << 64) - 1, "must be a whole number"), self._key)

    @property
    def seeded(self) -> bool:
        """Whether it comes from a seed: whatever is drawn from it is NOT PRIVATE."""
        return bool(self._key.seeded)

    def derive(self, entity: int) -> Key:
        """The key of an entity of a simulation: a trial (from 0), then the coordinator (0) or a client (1 to m)."""
        child = Key(0)
        lib.caucus_key_derive(self._key, entity, child._key)
        return child

    def __repr__(self) -> str:
        return "<caucus key from a seed: NOT PRIVATE>" if self.seeded else "<caucus key>"


def key_of(key: Key | None, seed: int | None, entity: int) -> Key:
    """The key of the coordinator (entity 0) or of a client: one's own, that of a seed's first trial, or a fresh one."""
    if key is not None and seed is not None:
        raise refuse("seed", f"{seed}: a key was given, too")
    if seed is not None:
        return Key(seed).derive(0).derive(entity)
    return key if key is not None else Key()


def pointer(key: Key) -> Any:
    """The caucus_key itself."""
    return key._key
