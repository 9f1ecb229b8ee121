"""Build the wheel and the source archive, and use them as a stranger would.

    python scripts/check_package.py [extra ...]

Each extra alone is installed into an empty environment, with no constraints, and used once. Without
arguments: all of them, and no extra. No extra and "all" are installed with the pip that comes with
Python, the others as ``scripts/install.py`` does. Needs the packages ``build`` and ``twine`` (the
group ``package`` of pyproject.toml), and the package registry.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]

EVALUATE = """
from beir_eval import evaluate
result = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 1.0}}, ["nDCG@10"])
assert result.aggregate == {"nDCG@10": 1.0}
from beir_eval.validation import validate
found = validate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0.5, "d3": 0.5}}).findings
assert (found[0].code, found[0].level) == ("constant-scores", "error")
"""
#: The base job on files: an evaluation, judgements of BEIR, and a verdict whose p is 2 of 2^8.
COMPARE_FILES = """
import sys, warnings
from pathlib import Path
from beir_eval import compare_runs, evaluate, read_qrels
queries = [f"q{n}" for n in range(8)]
Path("qrels.trec").write_text("".join(f"{q} 0 d1 1\\n" for q in queries))
rows = "".join(f"{q}\\td1\\t1\\n" for q in queries)
Path("set/qrels").mkdir(parents=True)
Path("set/qrels/test.tsv").write_text(f"query-id\\tcorpus-id\\tscore\\n{rows}")
for name, documents in (("good", ("d1", "d2")), ("bad", ("d2", "d1"))):
    lines = [f"{q} Q0 {d} {r} {-r} {name}\\n" for q in queries for r, d in enumerate(documents, 1)]
    Path(f"{name}.trec").write_text("".join(lines))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert evaluate("qrels.trec", "bad.trec", "MRR@10")["MRR@10"] == 0.5
    assert evaluate("set", "good.trec", "MRR@10")["MRR@10"] == 1.0
assert ["beir-eval[files]" in str(warning.message) for warning in caught] == [True]
assert read_qrels("set").as_dict() == read_qrels("qrels.trec").as_dict()
comparison = compare_runs("set", {"bad": "bad.trec", "good": "good.trec"}, "MRR@10")
[difference] = comparison.differences
assert (difference.p, difference.verdict) == (2 / 2**8, "better"), difference
assert not {"polars", "scipy"} & set(sys.modules)
"""
#: A program for each extra that uses what only this extra brings.
USES = {
    "": EVALUATE + COMPARE_FILES,
    "files": EVALUATE
    + """
import polars
from beir_eval import read_run
polars.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0]}).write_parquet("run.parquet")
assert list(read_run("run.parquet").query_ids) == ["q1"]
assert result.to_dataframe().height == 1
""",
    "pandas": EVALUATE
    + """
import pandas
from beir_eval import Run
frame = pandas.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
assert list(Run.from_dataframe(frame).query_ids) == ["q1"]
assert isinstance(result.to_dataframe().to_pandas(), pandas.DataFrame)
""",
    "stats": """
from beir_eval import compare, evaluate
qrels = {f"q{n}": {"d1": 1} for n in range(20)}
runs = [{query: {"d1": sign, "d2": 0.0} for query in qrels} for sign in (1.0, -1.0)]
results = [evaluate(qrels, run, ["MRR@10"], name=name) for run, name in zip(runs, "ab")]
assert compare(results, test="t").differences[0].verdict == "worse"
""",
    "hub": """
import datasets
from beir_eval import BeirEvalError, load_dataset
try:
    load_dataset("no-such-folder")
except BeirEvalError as error:
    print(error)
""",
    "ir-measures": """
import ir_measures
from beir_eval.integrations.ir_measures import install, provider
install()
assert ir_measures.DefaultPipeline.providers[0] is provider
assert ir_measures.calc_aggregate([ir_measures.AP], {"q": {"d": 1}}, {"q": {"d": 1.0}}) == {
    ir_measures.AP: 1.0
}
""",
    "haystack": """
from haystack import Document
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
relevant = [[Document(content="Paris")]]
evaluator = BEIREvaluator(["MRR@10"])
output = evaluator.run(ground_truth_documents=relevant, retrieved_documents=relevant)
assert output["metrics"]["MRR@10"] == 1.0
""",
    "sentence-transformers": """
from beir_eval.integrations.sentence_transformers import InformationRetrievalEvaluator
evaluator = InformationRetrievalEvaluator({"q1": "a"}, {"d1": "b"}, {"q1": {"d1": 2}})
assert str(evaluator.measures[0]) == "nDCG@10"
""",
    "spark": """
import os, sys
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
from pyspark.sql import SparkSession
from beir_eval.integrations.spark import evaluate, summarise
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
qrels = spark.createDataFrame([("q1", "d1", 1)], "query_id string, doc_id string, grade int")
run = spark.createDataFrame([("q1", "d1", 0.5)], "query_id string, doc_id string, score double")
assert summarise(evaluate(qrels, run, "MRR@10")).aggregate == {"MRR@10": 1.0}
spark.stop()
""",
    "beir": """
from beir_eval.integrations.beir import EvaluateRetrieval
ndcg, *_ = EvaluateRetrieval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.9, "d3": 0.8}}, [1])
assert ndcg == {"NDCG@1": 1.0}
""",
    "report": EVALUATE
    + """
from beir_eval.report import write_report
write_report("report.html", result)
""",
    "cli": """
import subprocess, sys
from pathlib import Path
command = Path(sys.executable).with_name("beir-eval")
subprocess.run([command, "--help"], check=True)
subprocess.run([command, "list", "measures", "nDCG"], check=True)
""",
    "all": """
import subprocess, sys
from pathlib import Path
subprocess.run([Path(sys.executable).with_name("beir-eval"), "demo"], check=True)
""",
}
#: Two need torch; this version installs without the packages for graphics cards.
ALSO_INSTALLED = {extra: ["torch==2.13.0"] for extra in ("beir", "sentence-transformers")}
#: Installed with the pip that comes with Python.
WITH_PLAIN_PIP = ("", "all")
#: Those that take longest, which begin first.
LONGEST = ("spark", "all", "sentence-transformers")


def main() -> None:
    """Build, check and install the package; exit with 1 at the first failure."""
    extras = sorted(sys.argv[1:] or USES, key=lambda extra: extra not in LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder))

        def use_extra(extra: str) -> None:
            begin = time.monotonic()
            environment = Path(folder) / f"environment-{extra}"
            use(wheel, extra, environment)
            # All of them together are more than 10 GB.
            shutil.rmtree(environment)
            print(f"{extra or 'no extra'}: {time.monotonic() - begin:.0f} s", flush=True)

        # One downloads while the other computes.
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(use_extra, extras):
                pass


def build(folder: Path) -> Path:
    """Build both archives and check their descriptions; return the wheel.

    The wheel is built from the source archive, so that this contains everything.
    """
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT])
    archives = map(str, sorted(folder.iterdir()))
    run([sys.executable, "-m", "twine", "check", "--strict", *archives])
    [wheel] = folder.glob("*.whl")
    return wheel


def use(wheel: Path, extra: str, environment: Path) -> None:
    """Install the wheel with an extra into an empty environment, and use it."""
    python = environment / "bin" / "python"
    wanted = [f"{wheel}[{extra}]" if extra else str(wheel), *ALSO_INSTALLED.get(extra, [])]
    if extra in WITH_PLAIN_PIP:
        venv.create(environment, with_pip=True)
        pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        run([*pip, "install", *wanted])
    else:
        run([sys.executable, ROOT / "scripts" / "install.py", environment, *wanted])
    work = environment / "work"
    work.mkdir()
    run([python, "-I", "-c", USES[extra]], cwd=work)


def run(command: list[str | Path], cwd: Path | None = None) -> None:
    """Run a command without our own settings for pip and Python; exit if it fails."""
    ours = ("PIP_CONSTRAINT", "PYTHONPATH", "VIRTUAL_ENV")
    settings = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        command, check=False, cwd=cwd, env=settings, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main()
