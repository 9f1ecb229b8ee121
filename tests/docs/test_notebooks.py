"""The notebooks run from top to bottom, and hold the outputs that a reader sees."""

import json
import re
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
KERNEL = "of-these-tests"

#: /a/b or C:\a, but no fraction, media type, address or closing tag.
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/<])/[\w.-]+/[\w.-]+|\b[A-Za-z]:\\\w")

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def displays(cell):
    return [one["output_type"] for one in cell["outputs"] if one.get("name") != "stderr"]


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
def test_it_runs_and_shows_something_where_its_stored_form_does(path, kernel, tmp_path):
    reason = "nbclient and ipykernel execute the notebooks"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    stored, executed = (nbformat.read(path, as_version=4) for _ in range(2))
    room = tmp_path / "room"
    room.mkdir()
    nbclient.NotebookClient(
        executed,
        kernel_name=kernel,
        timeout=300,
        coalesce_streams=True,  # how often the kernel sends what was printed is chance
        resources={"metadata": {"path": str(room)}},
    ).execute()
    for before, after in zip(code_cells(stored), code_cells(executed), strict=True):
        assert "error" not in displays(after)
        assert displays(before) == displays(after), after["source"]


def test_its_stored_outputs_name_no_place_of_the_machine_that_made_them(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    outputs = [one for cell in code_cells(notebook) for one in cell["outputs"]]
    assert outputs
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert not [one for one in outputs if one.get("name") == "stderr"]
    for output in outputs:
        shown = "".join(output.get("text", [])) + "".join(
            text if isinstance(text, str) else "".join(text)
            for kind, text in output.get("data", {}).items()
            if not kind.startswith("image/")  # base64 has slashes too
        )
        assert ABSOLUTE_PATH.findall(shown) == []


def test_its_cells_were_executed_once_in_their_order(path):
    cells = code_cells(json.loads(path.read_text(encoding="utf-8")))
    counts = [cell["execution_count"] for cell in cells]
    assert counts == list(range(1, len(cells) + 1))


def test_its_figures_are_stored_as_pictures_that_every_host_shows(path):
    """Without the specification, which few hosts draw and which fills hundreds of lines."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [one for cell in code_cells(notebook) for one in cell["outputs"] if "data" in one]
    for output in outputs:
        if "".join(output["data"]["text/plain"]).startswith("Figure("):
            assert set(output["data"]) == {"image/png", "text/plain"}
            assert set(output["metadata"]["image/png"]) == {"width", "height"}
    assert path.stat().st_size < 800_000
