"""Run the examples of README and documentation as tests; send no usage data to others."""

import os
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from doc_examples import check_console, check_script, check_workflow

# Haystack sends usage data unless this is set before it is imported.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
# So do the trackers.
os.environ |= {
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "WANDB_ERROR_REPORTING": "false",
    "WANDB_MODE": "offline",
}
# Workers of Spark run this interpreter, and nothing leaves loopback.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
#: Pages on other tools, and a module that only the environments of their tests have.
HOSTS = {
    **{
        f"docs/hosts/{page.name}": "llama_index"
        for page in (Path(__file__).parent / "docs/hosts").glob("*.md")
    },
    "docs/hosts/spark.md": "pyspark",
    "docs/trackers/*.md": "trackio",
}


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


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        CodeBlockParser(language="console", evaluator=check_console),
        CodeBlockParser(language="py", evaluator=check_script),
        CodeBlockParser(language="yaml", evaluator=check_workflow),
    ],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    excludes=[pages for pages, module in HOSTS.items() if find_spec(module) is None],
    setup=enter_example_folder,
    teardown=leave_example_folder,
).pytest()
