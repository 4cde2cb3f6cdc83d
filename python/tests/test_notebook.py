# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import PATIENCE

NOTEBOOK = Path(__file__).parents[1] / "examples" / "tour.ipynb"


@pytest.mark.filterwarnings("default")  # of the packages that run it
def test_the_notebook_runs(tmp_path: Path) -> None:
    """No cell fails, the plan is shown in the program's words, and there are two figures."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=PATIENCE * 4, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("Fed-Hedge, 3 clients, 4 experts" in output.get("data", {}).get("text/plain", "") for output in shown)
    assert sum("image/png" in output.get("data", {}) for output in shown) == 2
