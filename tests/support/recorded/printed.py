"""Output of commands and results for the bundled data set at 80 columns, and content of files."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from typer.testing import CliRunner

import beir_eval
from beir_eval import (
    Benchmark,
    checkpoint_curve,
    compare,
    compare_benchmark,
    compare_slices,
    evaluate,
    evaluate_stages,
    read_qrels,
    read_run,
    validate,
)
from beir_eval.cli.app import app
from beir_eval.comparison.experiments import experiment_power
from beir_eval.datasets import demo
from recorded.digest import digest_of

#: One run of each command, with what it writes.
#: All run in the same folder, which holds the files of ``_write_inputs``.
COMMANDS = """
--help
evaluate --help
compare --help
bench --help
haystack --help
power --help
validate --help
list --help
convert --help
demo --help
list measures nDCG
list datasets msmarco
demo -o demo.html
evaluate qrels.tsv half.trec bm25.trec -m nDCG@10 -o scores.csv -o r.md -o r.tex
compare qrels.tsv bm25.trec plain.trec half.trec -m nDCG@10 -m MRR --baseline plain --gate nDCG@10 \
-o c.md -o c.tex -o c.csv -o gate.xml
power qrels.tsv -m nDCG@10
validate qrels.tsv bm25.trec half.trec twice.trec other.trec
convert bm25.trec bm25.json
bench sets runs -o b.md -o b.tex -o b.csv
haystack bm25.yaml dataset --index -m nDCG@10 --save-run pipeline.trec
""".strip().splitlines()


#: Variables by which a terminal sets colours and widths.
UNSET = ("FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TERM", "LINES")
SET = {"COLUMNS": "80", "PYTHONUTF8": "1", "HAYSTACK_TELEMETRY_ENABLED": "False"}


def record():
    """Return the lines that commands and results print and write.

    They run in their own process, so that the terminal and earlier imports have no effect.
    """
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    # The package that is imported here, which need not be the installed one.
    folders = (Path(__file__).parents[1], Path(beir_eval.__file__).parents[1])
    environment |= SET | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    process = subprocess.run(
        [sys.executable, __file__],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,  # an error is raised below
    )
    if process.returncode:
        raise RuntimeError(process.stderr)
    return process.stdout.removesuffix("\n").split("\n")


def _lines():
    """Return the lines that each command prints and writes, then those that results print."""
    lines, names = [], set()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_inputs()
        for command in COMMANDS:
            before = _modification_times()
            result = CliRunner().invoke(app, shlex.split(command), prog_name="beir-eval")
            lines += [f"$ beir-eval {command}", *_masked(result.output).splitlines()]
            lines += [f"[exit code {result.exit_code}]", ""]
            after = _modification_times()
            for path in sorted(path for path in after if before.get(path) != after[path]):
                if path.name not in names:  # other systems and data sets have files of that name
                    content = _content(path)
                    lines += [f"[{path}]", *content, ""]
                names.add(path.name)
        lines += _in_python()
    return [line.rstrip() for line in lines]


def _write_inputs():
    """Write judgements, runs, a data set, a benchmark and pipelines into the current folder."""
    bm25, plain = (path.read_text() for path in demo.RUNS)
    lines = bm25.splitlines(keepends=True)
    for name, text in {
        "qrels.tsv": (demo.FOLDER / "qrels/test.tsv").read_text(),
        "bm25.trec": bm25,
        "plain.trec": plain,
        "half.trec": "".join(line for line in lines if line.split()[0] in _queries(bm25)[::2]),
        "twice.trec": lines[0] + bm25,
        "other.trec": "unknown Q0 d1 1 2.5 other\n",
    }.items():
        Path(name).write_text(text)
    Path("dataset").mkdir()
    for name in ("corpus.jsonl", "queries.jsonl"):
        shutil.copy(demo.FOLDER / name, "dataset")
    shutil.copytree(demo.FOLDER / "qrels", "dataset/qrels")
    for name in ("arguana", "own"):
        Path("sets").mkdir(exist_ok=True)
        shutil.copy("qrels.tsv", f"sets/{name}.tsv")
        for system in ("bm25", "plain"):
            Path("runs", system).mkdir(parents=True, exist_ok=True)
            shutil.copy(f"{system}.trec", f"runs/{system}/{name}.trec")
    Path("bm25.yaml").write_text(_pipeline())


def _queries(run):
    return list(dict.fromkeys(line.split()[0] for line in run.splitlines()))


def _pipeline():
    from haystack import Pipeline  # noqa: PLC0415 - slow to import, and needed only here
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever  # noqa: PLC0415
    from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: PLC0415

    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(InMemoryDocumentStore(), top_k=20))
    return pipeline.dumps()


def _modification_times():
    return {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}


def _content(path):
    """Return the lines of a text, the keys of JSON or the text of a page, else the first bytes.

    A hash holds the other values of JSON, of a page's data and of a run.
    """
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        return [*_keys(content), f"[values: {_digest(content)}]"]
    if path.suffix == ".html":
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        digest = _digest(json.loads(page.data))
        return [*_masked("\n".join(page.lines)).splitlines(), f"[data in the page: {digest}]"]
    if path.suffix == ".jsonl":
        return _keys(json.loads(path.read_text().splitlines()[-1]))
    if path.suffix in {".md", ".tex", ".xml", ".csv"}:
        return _masked(path.read_text()).splitlines()
    if path.suffix in {".trec", ".tsv"}:
        return [*path.read_text().splitlines()[:5], f"[all: {_digest(path.read_text())}]"]
    return [repr(path.read_bytes()[:4])]


def _digest(content):
    """Return a hash of JSON or a text: numbers to 9 digits, without fields that always differ."""
    return digest_of(json.dumps(_comparable(content)))


def _comparable(content):
    if isinstance(content, dict):
        return {
            name: _comparable(value)
            for name, value in content.items()
            if name not in DIFFERENT_IN_EVERY_RUN
        }
    if isinstance(content, list):
        return [_comparable(value) for value in content]
    if isinstance(content, float):
        return float(f"{content:.9g}")
    return _masked(content) if isinstance(content, str) else content


#: Fields that differ in every run: times, and hashes of the version.
DIFFERENT_IN_EVERY_RUN = ("seconds", "made_from", "retrieval")


def _keys(value, path=""):
    """Return the keys of JSON with the types of their values; ids of queries are replaced."""
    if isinstance(value, dict):
        lines = [line for key, inner in value.items() for line in _keys(inner, f"{path}.{key}")]
    elif isinstance(value, list):
        lines = list(dict.fromkeys(line for item in value for line in _keys(item, f"{path}[]")))
    else:
        lines = [f"{path}: {type(value).__name__}"]
    return list(dict.fromkeys(re.sub(r"\.q\d+\b[^:]*", ".<query>", line) for line in lines))


class _Page(HTMLParser):
    """The text of a page by line, a row of a table each, and its data; no scripts or styles."""

    def __init__(self):
        super().__init__()
        self.lines, self.data, self._inside, self._row = [], "", None, None

    def handle_starttag(self, tag, attributes):
        if tag in {"script", "style"}:
            self._inside = dict(attributes).get("id", tag)
        if tag == "tr":
            self._row = []
        self.lines += [
            f"[{name}] {value}"
            for name, value in attributes
            if name in {"title", "aria-label", "placeholder", "alt"}
        ]

    def handle_endtag(self, tag):
        if tag in {"script", "style"}:
            self._inside = None
        if tag == "tr":
            self.lines.append(" | ".join(self._row))
            self._row = None

    def handle_data(self, text):
        if self._inside == "data":
            self.data += text
        elif self._inside is None and text.strip():
            (self.lines if self._row is None else self._row).append(" ".join(text.split()))


def _masked(text):
    """Replace the text that depends on the day, the machine or the version."""
    text = text.replace(str(Path.cwd().resolve()), "FOLDER").replace(str(Path.cwd()), "FOLDER")
    text = text.replace(beir_eval.__version__, "VERSION")
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE", text)
    text = re.sub(r"\d+(\.\d+)? ?(ms|s)\b", "TIME", text)
    text = re.sub(r"(haystack bm25(?: \+ titles)? +0\.\d{4}) +[\d,.]+", r"\1  TIME", text)
    # The last digits of sums depend on the processor.
    return re.sub(r"\d+\.\d{10,}(e-\d+)?|\d\.\d+e-\d+", lambda m: f"{float(m[0]):.9g}", text)


def _in_python():
    """Return the lines that results print, and the keys of their JSON."""
    qrels, runs = read_qrels("qrels.tsv"), {"bm25": read_run("bm25.trec")}
    runs |= {"plain": read_run("plain.trec"), "half": read_run("half.trec")}
    results = {
        name: evaluate(qrels, run, ["nDCG@10", "MRR"], name=name) for name, run in runs.items()
    }
    labels = {
        query: "odd" if number % 2 else "even" for number, query in enumerate(qrels.query_ids)
    }
    steps = {
        f"step {number}": results[name] for number, name in enumerate(("half", "plain", "bm25"))
    }
    benchmark = {
        name: {"one": result, "two": result} for name, result in results.items() if name != "half"
    }
    staged = evaluate_stages(qrels, {"plain": runs["plain"], "bm25": runs["bm25"]}, "nDCG@10")
    printable = {
        "an EvaluationResult": results["half"],
        "a Comparison of all pairs": compare(results),
        "slices": compare_slices(results, labels, baseline="plain"),
        "a CheckpointCurve": checkpoint_curve(steps),
        "a comparison across data sets": compare_benchmark(benchmark),
        "a BenchmarkResult": Benchmark(
            {"own": "qrels.tsv"},
            {"bm25": "bm25.trec", "half": "half.trec"},
            "nDCG@10",
            folder="kept",
        ).run(),
        "stages": staged,
        "a Validation": validate("qrels.tsv", {"half": "half.trec"}),
        "the power of an experiment": experiment_power(qrels, "nDCG@10"),
    }
    lines = []
    for name, result in printable.items():
        lines += [f"# {name}", *_masked(str(result)).splitlines(), ""]
    return lines


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n".join(_lines()))
