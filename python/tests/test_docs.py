# SPDX-License-Identifier: Apache-2.0
"""docs/PYTHON.md: what is beyond typing its blocks, which tests/docs/run_blocks.py does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import caucus_dp as caucus
from conftest import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "PYTHON.md"
BLOCK = re.compile(r'^```python(?: title="([a-z.]+)")?\n(.*?)^```$', re.S | re.M)


def blocks() -> list[tuple[str, str]]:
    """Name and text of the page's Python blocks; those without a name are one after the other in one file."""
    found = BLOCK.findall(PAGE.read_text())
    whole = "".join(text for name, text in found if not name)
    return [("typed.py", whole), *((name, text) for name, text in found if name)]


def test_types(tmp_path: Path) -> None:
    """Whoever copies a block may check its types strictly."""
    files = []
    for name, text in blocks():
        (tmp_path / name).write_text(text)
        files.append(str(tmp_path / name))
    assert len(files) == 3
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*words, *files], capture_output=True, text=True, timeout=5 * PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "stoch"},
        {"algorithm": "stoch", "trust": "nobody"},
        {"algorithm": "stoch", "trust": "nobody", "message": "shortlist"},
        {"algorithm": "svt"},
        {"algorithm": "svt", "protocol": "paper"},
        {"algorithm": "hedge", "interval": 7},
    ],
)
def test_the_loop_of_the_machines_plays_every_round(settings: dict[str, Any]) -> None:
    """All clients hear the last announcement and play the rounds after it, of every kind of plan."""
    (loop,) = [text for name, text in BLOCK.findall(PAGE.read_text()) if "caucus.Coordinator(plan)" in text]
    plan = caucus.plan(**{"clients": 50, "experts": 3, "rounds": 200, "epsilon": 5, "trust": "coordinator", **settings})
    history = np.random.default_rng(1).random((50, 200, 3))
    names: dict[str, Any] = {"caucus": caucus, "plan": plan, "history": history}
    exec(loop, names)
    assert {client.round for client in names["clients"]} == {200}
    assert len({client.expert for client in names["clients"]}) == 1
    assert names["clients"][0].expert == names["coordinator"].announcement.expert
