"""The notebooks run from top to bottom, and their stored outputs are fit to publish."""

import json
import re
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
KERNEL = "of-these-tests"

#: /a/b or C:\a, but not a fraction, media type, address or closing tag.
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/<])/[\w.-]+/[\w.-]+|\b[A-Za-z]:\\\w")

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def output_types(cell):
    return [output["output_type"] for output in cell["outputs"] if output.get("name") != "stderr"]


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel of this interpreter, whatever kernels and settings the machine has."""
    folder = tmp_path / "jupyter" / "kernels" / KERNEL
    folder.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": KERNEL, "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return KERNEL


@pytest.mark.peers
def test_a_notebook_runs_and_its_cells_have_the_output_types_of_the_stored_ones(
    path, kernel, tmp_path
):
    reason = "nbclient and ipykernel execute the notebooks"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    stored, executed = (nbformat.read(path, as_version=4) for _ in range(2))
    folder = tmp_path / "room"
    folder.mkdir()
    nbclient.NotebookClient(
        executed,
        kernel_name=kernel,
        timeout=300,
        coalesce_streams=True,  # the kernel splits printed text at random
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    for stored_cell, executed_cell in zip(code_cells(stored), code_cells(executed), strict=True):
        assert "error" not in output_types(executed_cell)
        assert output_types(stored_cell) == output_types(executed_cell), executed_cell["source"]


def test_stored_outputs_name_no_path_of_the_machine_that_made_them(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    for output in outputs:
        output_text = "".join(output.get("text", [])) + "".join(
            text if isinstance(text, str) else "".join(text)
            for kind, text in output.get("data", {}).items()
            if not kind.startswith("image/")  # base64 has slashes too
        )
        assert ABSOLUTE_PATH.findall(output_text) == []


def test_cells_were_executed_once_in_their_order(path):
    cells = code_cells(json.loads(path.read_text(encoding="utf-8")))
    counts = [cell["execution_count"] for cell in cells]
    assert counts == list(range(1, len(cells) + 1))


def test_figures_are_stored_as_images_that_every_host_shows(path):
    """The chart specification is absent: few hosts draw it, and it fills hundreds of lines."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [
        output for cell in code_cells(notebook) for output in cell["outputs"] if "data" in output
    ]
    for output in outputs:
        if "".join(output["data"]["text/plain"]).startswith("Figure("):
            assert set(output["data"]) == {"image/png", "text/plain"}
            assert set(output["metadata"]["image/png"]) == {"width", "height"}
    assert path.stat().st_size < 800_000
