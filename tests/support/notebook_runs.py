"""Execute a notebook in a new folder, with a kernel of this interpreter."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
_KERNEL = "of-these-tests"


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def output_types(cell):
    return [output["output_type"] for output in cell["outputs"] if output.get("name") != "stderr"]


@contextmanager
def _kernel(folder):
    """Yield the name of a kernel, whatever kernels and settings the machine has."""
    own = folder / "jupyter" / "kernels" / _KERNEL
    own.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": _KERNEL, "language": "python"}
    (own / "kernel.json").write_text(json.dumps(spec))
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("WANDB_MODE", raising=False)  # some packages print that it is set
        patched.setenv("JUPYTER_PATH", str(folder / "jupyter"))
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patched.setenv(name, str(folder / name))
        yield _KERNEL


def execute(path, folder, timeout=300):
    """Return a notebook after its execution, and the folder in which it ran.

    It fails if a cell has outputs of other types than the stored ones.

    Args:
        path: the notebook.
        folder: an empty folder.
        timeout: the longest time of a cell, in seconds.
    """
    reason = "nbclient and ipykernel execute the notebooks"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    stored, executed = (nbformat.read(path, as_version=4) for _ in range(2))
    room = folder / "room"
    room.mkdir()
    with _kernel(folder) as kernel:
        nbclient.NotebookClient(
            executed,
            kernel_name=kernel,
            timeout=timeout,
            coalesce_streams=True,  # the kernel splits printed text at random
            resources={"metadata": {"path": str(room)}},
        ).execute()
    for stored_cell, executed_cell in zip(code_cells(stored), code_cells(executed), strict=True):
        assert "error" not in output_types(executed_cell)
        outputs = [output for output in executed_cell["outputs"] if output.get("name") != "stderr"]
        assert output_types(stored_cell) == output_types(executed_cell), (
            f"{executed_cell['source']}\n{outputs}"
        )
    return executed, room
