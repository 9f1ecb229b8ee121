"""The notebooks run from top to bottom, and their stored outputs are fit to publish."""

import json
import re

import pytest

from notebook_runs import NOTEBOOKS, code_cells, execute

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))

#: /a/b or C:\a, but not a fraction, media type, address or closing tag.
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/<])/[\w.-]+/[\w.-]+|\b[A-Za-z]:\\\w")

each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


@pytest.mark.slow
@pytest.mark.peers
@each_notebook
def test_a_notebook_runs_and_its_cells_have_the_output_types_of_the_stored_ones(path, tmp_path):
    execute(path, tmp_path)


@each_notebook
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


@each_notebook
def test_cells_were_executed_once_in_their_order(path):
    cells = code_cells(json.loads(path.read_text(encoding="utf-8")))
    counts = [cell["execution_count"] for cell in cells]
    assert counts == list(range(1, len(cells) + 1))


@each_notebook
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
