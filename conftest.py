"""Run the examples of README and documentation as tests; send no usage data to others."""

import os
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from doc_examples import check_console, check_script, check_workflow

# Haystack sends usage data unless this is set before it is imported.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
# So do the trackers, which write to the folder of a page.
os.environ |= {
    "DO_NOT_TRACK": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_TRACKING_URI": "mlruns",
    "TRACKIO_DIR": "trackio",
    "WANDB_ERROR_REPORTING": "false",
}
# Workers of Spark run this interpreter, and nothing leaves loopback.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
#: Pages on other tools, and a module that only the environments of their tests have.
HOSTS = {"docs/hosts.md": "accelerate", "docs/spark.md": "pyspark"}
#: What the page docs/cookbook/tools.md needs, of the dependency group ``cookbook``.
TOOLS = ("langchain_core", "llama_index", "mlflow", "tensorboard", "trackio", "wandb")


def enter_example_folder(namespace: dict[str, Any]) -> None:
    """Enter a temporary folder with the files that the examples of one document read."""
    folder = tempfile.TemporaryDirectory()
    namespace["_left"], namespace["_folder"] = Path.cwd(), folder
    os.chdir(folder.name)
    Path("qrels.trec").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n")
    Path("bm25.trec").write_text("q1 Q0 d1 1 7.5 bm25\nq1 Q0 d9 2 6.1 bm25\n")


def leave_example_folder(namespace: dict[str, Any]) -> None:
    """Return to the folder where the tests were started, and delete the temporary one."""
    os.chdir(namespace["_left"])
    namespace["_folder"].cleanup()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the recipes of tools as slow, and skip them if one is not installed."""
    missing = [module for module in TOOLS if find_spec(module) is None]
    for item in items:
        if item.path.parts[-2:] == ("cookbook", "tools.md"):
            item.add_marker("slow")
            if missing:
                reason = f"{', '.join(missing)} not installed: pip install --group cookbook"
                item.add_marker(pytest.mark.skip(reason=reason))


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        CodeBlockParser(language="console", evaluator=check_console),
        CodeBlockParser(language="py", evaluator=check_script),
        CodeBlockParser(language="yaml", evaluator=check_workflow),
    ],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    # The recipes on extending the package are run after their diffs, by tests/docs.
    excludes=[
        "docs/extending.md",
        *(pages for pages, module in HOSTS.items() if find_spec(module) is None),
    ],
    setup=enter_example_folder,
    teardown=leave_example_folder,
).pytest()
