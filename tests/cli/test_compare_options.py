"""The command line reaches slices, checkpoints, documents to judge, several data sets, the gate."""

import csv
import html
import io
import json
import shutil
from statistics import fmean, stdev

import pytest

from beir_eval import (
    Comparison,
    EvaluationResult,
    Run,
    check_gate,
    checkpoint_curve,
    compare_benchmark,
    compare_runs,
    compare_slices,
    evaluate,
    load_dataset,
    read_qrels,
    read_run,
    write_run,
)
from beir_eval.benchmark import AcrossDatasets
from beir_eval.cli.labels import slice_columns
from beir_eval.comparison.checkpoints import CheckpointCurve
from beir_eval.comparison.gate_output import gate_document
from beir_eval.comparison.slices import (
    SlicedComparison,
    by_length,
    by_metadata,
    by_num_relevant,
    cut,
)
from beir_eval.datasets import demo
from command_line import output_of, refusal, run, success
from data_sets import write_benchmark

BM25, PLAIN = demo.RUNS
QRELS = read_qrels(demo.FOLDER)
RUNS = {path.stem: read_run(path) for path in demo.RUNS}
COMPARE = ("compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25-plain")


def test_draws_seed_and_interval_are_those_of_python(tmp_path):
    saved = tmp_path / "c.json"
    options = ["--draws", "999", "--seed", "4", "--interval", "t", "-o", saved]
    assert run(*COMPARE, *options).exit_code == 0
    expected = compare_runs(QRELS, RUNS, baseline="bm25-plain", draws=999, rng=4, interval="t")
    assert Comparison.load(saved).differences == expected.differences
    assert expected.differences[0].p != compare_runs(QRELS, RUNS).differences[0].p


# Slices


@pytest.fixture
def folder(tmp_path):
    """Return a data-set folder whose queries have metadata."""
    target = tmp_path / "set"
    shutil.copytree(demo.FOLDER, target)
    queries = [json.loads(line) for line in (target / "queries.jsonl").read_text().splitlines()]
    for number, query in enumerate(queries):
        query["metadata"] = {"topic": "ab"[number % 2], "year": 2000 + number}
    (target / "queries.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
    return target


def test_every_kind_of_slices_of_python_is_reached(folder, tmp_path):
    ids = sorted(QRELS.as_dict())
    labels = {query: "odd" if number % 2 else "even" for number, query in enumerate(ids)}
    sizes = {query: float(number) for number, query in enumerate(ids)}
    table = tmp_path / "labels.tsv"
    lines = [f"{query}\t{labels[query]}\t{sizes[query]}" for query in ids]
    table.write_text("\n".join(["query-id\tparity\tsize", *lines]))
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("qid,n\n" + "".join(f"{query},{sizes[query]}\n" for query in ids))
    queries = load_dataset(folder).queries
    for requests, expected in (
        (["length"], {"length": by_length(queries)}),
        (["length=3,5"], {"length": by_length(queries, edges=(3, 5))}),
        (["relevant"], {"relevant": by_num_relevant(QRELS)}),
        (["metadata.topic"], {"topic": by_metadata(folder, "topic")}),
        (["metadata.year=2010"], {"year": cut(by_metadata(folder, "year"), edges=[2010])}),
        ([table], {"parity": labels, "size": cut(sizes)}),
        ([f"{numbers}=10,20"], {"n": cut(sizes, edges=[10, 20])}),
    ):
        requested = list(map(str, requests))
        assert slice_columns(requested, folder=folder, split=None, qrels=QRELS) == expected
    command = ["compare", folder, BM25, PLAIN, "--baseline", "bm25", "--draws", "199"]
    slices = ["--slices", "metadata.topic", "--slices", "relevant", "-o", tmp_path / "c.json"]
    assert "By slice" in success(run(*command, *slices))
    results = {name: evaluate(QRELS, item, "nDCG@10", name=name) for name, item in RUNS.items()}
    columns = {"topic": by_metadata(folder, "topic"), "relevant": by_num_relevant(QRELS)}
    expected = compare_slices(results, columns, baseline="bm25", draws=199)
    assert SlicedComparison.load(tmp_path / "c.slices.json").slices == expected.slices


def test_slices_are_written_in_every_format_and_need_no_judgements_for_labels(tmp_path):
    saved = tmp_path / "saved.json"
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-m", "MRR", "-o", saved).exit_code == 0
    labels = tmp_path / "labels.csv"
    rows = "".join(f"q{n:02},{n % 2 == 0}\n" for n in range(1, 29))
    labels.write_text(f"query_id,half\n{rows}q29,\nq30,\n")
    options = ["--slices", labels, "-o", tmp_path / "c.csv", "-o", tmp_path / "c.md"]
    success(run("compare", saved, *options))
    sliced = (tmp_path / "c.slices.csv").read_text()
    assert sliced.startswith("column,slice,slice_queries,measure")
    assert "half,(none),2," in sliced
    assert "## By slice" in (tmp_path / "c.md").read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--slices", "nothing"], "give a file of labels, length, relevant or metadata.KEY"),
        (["--slices", "length=a"], "numbers were expected behind ="),
        (["--slices", "length", "--slices", "length=2"], "two columns 'length'"),
        (["--slices", "metadata.x"], "no query has metadata 'x'"),
        (["--slices", "text.csv=2"], "its labels are not numbers"),
        (["--slices", "short.csv"], "line 3: 2 values were expected, found 1"),
        (["--slices", "twice.csv"], "line 3: query 'q01' is listed twice"),
        (["--slices", "head.csv"], "a header was expected with query_id"),
        (["--slices", "open.csv"], "does a quote lack its end?"),
        (["--floor", "nDCG@10"], "MEASURE=SCORE was expected, such as nDCG@10=0.45"),
        (["--floor", "MRR=0.1", "--floor", "MRR=0.2"], "names MRR twice"),
        (["--floor-interval"], "add --floor MEASURE=SCORE"),
        (["--allow-missing"], "add --gate MEASURE"),
        (["--interval", "x"], "--interval x is not known"),
        (["-o", "c.json", "--slices", "relevant", "-o", "c.slices.json"], "named twice"),
    ],
)
def test_senseless_options_are_one_clear_line_and_exit_code_2(
    tmp_path, monkeypatch, options, problem
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.csv").write_text("query_id,topic\nq01,a\n")
    (tmp_path / "short.csv").write_text("query_id,topic\nq01,a\nq02\n")
    (tmp_path / "twice.csv").write_text("query_id,topic\nq01,a\nq01,b\n")
    (tmp_path / "head.csv").write_text("q01,a\n")
    (tmp_path / "open.csv").write_text('query_id,topic\nq01,"a\n' + "q02,b\n" * 30_000)
    assert problem in refusal(run(*COMPARE, *options))
    assert not list(tmp_path.glob("c.*"))


def test_slices_that_need_judgements_or_texts_say_so_without_them(tmp_path):
    saved, qrels = tmp_path / "saved.json", tmp_path / "qrels.tsv"
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-m", "MRR", "-o", saved).exit_code == 0
    shutil.copy(demo.FOLDER / "qrels" / "test.tsv", qrels)
    for arguments, problem in (
        (["compare", saved, "--slices", "relevant"], "give them and runs, not saved results"),
        (["compare", saved, "--slices", "length"], "give its folder as judgements"),
        (["compare", qrels, BM25, PLAIN, "--slices", "length"], "give its folder as judgements"),
        (["compare", saved, "--to-judge", tmp_path / "j.csv"], "give the judgements and the run"),
    ):
        assert problem in refusal(run(*arguments))


# Documents to judge, checkpoints


def test_the_documents_to_judge_are_those_of_python(tmp_path):
    comparison = compare_runs(QRELS, RUNS, ["nDCG@10", "MAP"], baseline="bm25-plain")
    for name, delimiter in (("j.csv", ","), ("j.tsv", "\t")):
        options = ["-m", "nDCG@10", "-m", "MAP", "--to-judge", tmp_path / name]
        success(run(*COMPARE, *options))
        text = (tmp_path / name).read_text()
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
        expected = [
            (measure, document.query_id, document.doc_id, document.total)
            for measure in ("nDCG@10", "MAP")
            for document in comparison.documents_to_judge(20, measure=measure)
        ]
        assert [
            (row["measure"], row["query_id"], row["doc_id"], float(row["total"])) for row in rows
        ] == expected
        assert rows[0]["rank bm25"] or rows[0]["rank bm25-plain"]
    outputs = ["--to-judge", tmp_path / "best.csv", "-o", tmp_path / "c.json"]
    assert "not known with --ties best" in refusal(run(*COMPARE, "--ties", "best", *outputs))
    assert not [*tmp_path.glob("best.csv"), *tmp_path.glob("c.json")]


def test_a_folder_of_saved_results_stands_for_its_files_in_the_order_of_their_steps(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for step, run_file in ((1000, BM25), (500, PLAIN)):
        result = evaluate(QRELS, read_run(run_file), "nDCG@10", name=f"step-{step}")
        result.save(folder / f"step-{step}.json")
    (folder / "notes.json").write_text("{}")
    outputs = [tmp_path / "of_folder.json", tmp_path / "of_files.json"]
    files = [folder / "step-500.json", folder / "step-1000.json"]
    for inputs, output in zip(([folder], files), outputs, strict=True):
        success(run("compare", *inputs, "--steps", r"step-(\d+)", "-o", output))
    assert Comparison.load(outputs[0]).systems == ("step-500", "step-1000")
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def saved_steps(folder, names=("step-100", "step-2000")):
    folder.mkdir()
    for name, run_file in zip(names, (PLAIN, BM25, BM25, BM25), strict=False):
        result = evaluate(QRELS, read_run(run_file), "nDCG@10", name=name)
        result.save(folder / f"{name}.json")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["FOLDER", "--steps"],
        ["--steps", "FOLDER"],
        ["FOLDER", "--steps", r"-(\d+)"],
        ["FOLDER", r"--steps=(\d+)$"],
    ],
)
def test_the_curve_of_a_folder_that_a_trainer_wrote_needs_no_pattern(tmp_path, arguments):
    folder, output = saved_steps(tmp_path / "results"), tmp_path / "c.json"
    inputs = [folder if argument == "FOLDER" else argument for argument in arguments]
    result = success(run("compare", "-o", output, *inputs))
    curve = CheckpointCurve.load(tmp_path / "c.steps.json")
    assert [checkpoint.step for checkpoint in curve.checkpoints] == [100, 2000]
    assert "beir-eval choose takes the choice into account" in result


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        (("bm25", "run-step100", "run-step200"), [100, 200]),
        (("step-100", "step-200", "epoch-1", "evaluation"), [100, 200]),
        (("Checkpoint_7", "Checkpoint_8", "bm25"), [7, 8]),
        (("epoch1-step10", "epoch1-step20"), [10, 20]),
        (("bm25", "v1", "v2", "v10"), [1, 2, 10]),
        (("run_1e-5_100", "run_1e-5_20", "bm25", "dense"), [20, 100]),
    ],
)
def test_without_a_pattern_the_step_is_the_number_after_the_word(tmp_path, names, steps):
    folder, output = saved_steps(tmp_path / "results", names), tmp_path / "c.json"
    success(run("compare", folder, "--steps", "-o", output))
    curve = CheckpointCurve.load(tmp_path / "c.steps.json")
    assert [checkpoint.step for checkpoint in curve.checkpoints] == steps


def test_systems_without_a_step_are_named_in_every_output_of_the_curve(tmp_path):
    folder = saved_steps(tmp_path / "results", ("best", "ckpt-9", "ckpt-10", "final"))
    files = [tmp_path / name for name in ("c.json", "c.md", "c.html", "c.csv")]
    result = success(
        run("compare", folder, "--steps", *(part for file in files for part in ("-o", file)))
    )
    curve = CheckpointCurve.load(tmp_path / "c.steps.json")
    assert curve.without_step == ("best", "final")
    steps = [EvaluationResult.load(folder / f"ckpt-{step}.json") for step in (9, 10)]
    assert curve.points == checkpoint_curve(steps, r"ckpt-(\d+)").points
    assert (tmp_path / "c.steps.csv").read_text().startswith("measure,step,name,mean")
    assert "## From checkpoint to checkpoint" in files[1].read_text()
    sentence = "'best', 'final' have no step and are left out of the curve"
    assert sentence in result
    assert sentence in files[1].read_text()
    assert html.unescape(files[2].read_text()).count(sentence)
    result = run("compare", folder, "--steps", r"(?:ckpt-|fina)(\d+|l)", "-o", tmp_path / "d.json")
    assert result.exit_code == 2  # "l" is no step


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("bm25", "v2"), "--steps finds a step in 0 of the names 'bm25', 'v2', where it looks for"),
        (("step-1", "a-step-1"), "--steps: 'a-step-1', 'step-1' have the same step, 1; state a"),
    ],
)
def test_names_without_a_step_need_a_pattern_and_the_error_says_so(tmp_path, names, problem):
    assert problem in refusal(run("compare", saved_steps(tmp_path / "results", names), "--steps"))


# The gate


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"v(\d+)", "'v2', 'v2-aug' have the same step, 2; state a pattern that matches the names"),
        (r"v([\d-]+)", "no step is found by 'v([\\\\d-]+)' in 'v2-aug'; state a pattern that"),
        (r"v\d", "must have a group for the step"),
    ],
)
def test_a_pattern_of_steps_that_fits_badly_is_answered_with_the_remedy_of_the_command(
    tmp_path, pattern, problem
):
    files = [tmp_path / f"{name}.trec" for name in ("v2", "v2-aug", "v3")]
    for file in files:
        file.write_bytes(BM25.read_bytes())
    result = refusal(run("compare", demo.FOLDER, *files, "--steps", pattern))
    assert problem in result
    assert "{name" not in result
    assert "steps=" not in result


def test_every_output_has_the_same_outcome_and_reason_of_the_gate(tmp_path):
    comparison = compare_runs(QRELS, RUNS, ["nDCG@10"], baseline="bm25")
    checks = check_gate(comparison, floors={"nDCG@10": 0.45})
    targets = {kind: tmp_path / f"c.{kind}" for kind in ("json", "md", "html", "xml")}
    options = [text for kind, path in targets.items() for text in ("-o", str(path))]
    result = run(
        "compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25", "--gate", "nDCG@10",
        "--floor", "nDCG@10=0.45", *options,
    )  # fmt: skip
    assert result.exit_code == 1
    loaded = Comparison.load(targets["json"])
    assert list(loaded.gate) == checks
    assert [check.outcome for check in checks] == ["failed", "passed"]
    assert loaded.to_markdown() in targets["md"].read_text()
    for text, _ in gate_document(checks).sentences:
        assert text in output_of(result)
        assert text in targets["md"].read_text()
    for check in checks:
        for kind in ("html", "xml"):
            assert check.reason in targets[kind].read_text()
    assert "**Gate failed**" in targets["md"].read_text()
    assert "Gate failed" in targets["html"].read_text()


def test_the_exit_code_is_0_1_or_2(tmp_path):
    few = tmp_path / "few.trec"
    few.write_text("".join(BM25.read_text().splitlines(keepends=True)[:200]))
    empty = tmp_path / "empty.trec"
    empty.write_text("")
    for files, options, code in (
        ([PLAIN, BM25], ["--gate", "nDCG@10"], 0),
        ([PLAIN, BM25], ["--floor", "nDCG@10=0.4"], 0),
        ([PLAIN, BM25], ["--floor", "nDCG@10=0.55"], 1),
        ([PLAIN, BM25], ["--floor", "nDCG@10=0.6", "--baseline", "bm25-plain"], 0),
        ([PLAIN, BM25], ["--floor", "nDCG@10=0.6", "--floor-interval"], 1),
        ([BM25, PLAIN], ["--gate", "nDCG@10"], 1),
        ([BM25, few], ["--gate", "nDCG@10"], 2),
        ([BM25, few], ["--floor", "nDCG@10=0.1", "--baseline", "bm25"], 2),
        ([BM25, few], ["--gate", "nDCG@10", "--allow-missing"], 1),
        ([BM25, PLAIN, few], ["--gate", "nDCG@10"], 1),  # a worse system before the undecided
        ([BM25, empty], ["--gate", "nDCG@10"], 2),
        ([BM25, tmp_path / "none.trec"], ["--gate", "nDCG@10"], 2),
    ):
        result = run("compare", demo.FOLDER, *files, *options)
        assert result.exit_code == code, result.output


def test_a_floor_is_checked_with_one_run_or_one_saved_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("evaluate", demo.FOLDER, BM25, "-o", "saved.json").exit_code == 0
    for inputs in ([demo.FOLDER, BM25], ["saved.json"]):
        for floor, code, outcome in (("0.6", 0, "passed"), ("0.9", 1, "failed")):
            result = run("compare", *inputs, "--floor", f"nDCG@10={floor}", "-o", "gate.xml",
                         "-o", "gate.md")  # fmt: skip
            assert result.exit_code == code, result.output
            assert f"gate {outcome}: bm25: mean nDCG@10 0.6665 (" in output_of(result)
            assert "bm25 against the floor" in (tmp_path / "gate.xml").read_text()
            assert f"**Gate {outcome}**" in (tmp_path / "gate.md").read_text()
        for options in (["--floor", "nDCG@10=45"], ["--floor", "nDCG@10=0.6", "-o", "c.csv"]):
            assert run("compare", *inputs, *options).exit_code == 2
        message = output_of(run("compare", *inputs, "--floor", "nDCG@10=0.6", "--gate", "MRR"))
        assert "--gate needs two systems or more" in message
        message = output_of(run("compare", *inputs))
        for words in ("two systems or more", "beir-eval evaluate", "--floor MEASURE=SCORE"):
            assert words in message


# Several data sets


@pytest.fixture
def benchmark(tmp_path):
    """Return the folders of six data sets and of the runs of two systems on them."""
    return write_benchmark(tmp_path, ("one", "two", "three", "four", "five", "six"))


def test_the_verdicts_over_data_sets_are_those_of_python(benchmark, tmp_path):
    options = ["--compare", "--baseline", "plain"]
    targets = {kind: tmp_path / f"t.{kind}" for kind in ("json", "csv", "md")}
    written = [text for kind, path in targets.items() for text in ("-o", str(path))]
    out = ["--keep", tmp_path / "out"]
    result = run("bench", *benchmark, *options, *written, *out)
    assert result.exit_code == 0, result.output
    by_system = {
        name: dict.fromkeys(
            ("five", "four", "one", "six", "three", "two"), evaluate(QRELS, RUNS[stem], "nDCG@10")
        )
        for name, stem in (("good", "bm25"), ("plain", "bm25-plain"))
    }
    expected = compare_benchmark(by_system, baseline="plain")
    loaded = AcrossDatasets.load(tmp_path / "t.compare.json")
    assert loaded.differences == expected.differences
    first = "nDCG@10, 6 data sets: good is better than plain on average, and on all"
    assert result.output.startswith(first)
    assert first in targets["md"].read_text()
    assert (tmp_path / "t.compare.csv").read_text().startswith("system,against,difference")
    (benchmark[1] / "plain" / "one.trec").unlink()
    assert run("bench", *benchmark, "--compare", *out).exit_code == 2
    lenient = run("bench", *benchmark, "--compare", "--on", "intersection", *out)
    assert lenient.exit_code == 1, lenient.output  # a part failed
    assert "one is not part of these averages: no result of plain" in lenient.output


def test_the_figure_of_a_comparison_is_written_as_pdf(benchmark, tmp_path):
    files = [tmp_path / "forest.pdf", tmp_path / "across.pdf"]
    pair = [demo.FOLDER, *demo.RUNS, "-m", "nDCG@10"]
    assert run("compare", *pair, "-o", files[0]).exit_code == 0
    keep = ["--keep", tmp_path / "out"]
    assert run("bench", *benchmark, "--baseline", "plain", "-o", files[1], *keep).exit_code == 0
    assert all(path.read_bytes().startswith(b"%PDF-") for path in files)
    assert "add --compare" in refusal(run("bench", *benchmark, "-o", files[1], *keep))
    latex = tmp_path / "t.tex"
    measures = ["-m", "nDCG@10", "-m", "P@1", "--baseline", "plain"]
    assert run("bench", *benchmark, *measures, "-o", latex, *keep).exit_code == 0
    captions = [line for line in latex.read_text().splitlines() if line.startswith(r"\caption{")]
    assert ["nDCG@10 on " in captions[0], "Precision@1" in captions[1]] == [True, True]


def test_a_row_of_a_benchmark_is_chosen_on_other_data_sets(benchmark, tmp_path):
    (tmp_path / "dev").mkdir()
    [six] = benchmark[0].glob("six*")
    (tmp_path / "dev" / six.name).write_text(six.read_text().replace("q01", "q99"))
    six.unlink()
    shutil.copytree(benchmark[1] / "plain", benchmark[1] / "plain-2")
    line = ["bench", *benchmark, "--baseline", "plain-2", "--keep", tmp_path / "out"]
    assert "belong together" in refusal(run(*line, "--choose", "best=*"))
    assert "belong together" in refusal(run(*line, "--dev", tmp_path / "dev"))
    both = [*line, "--dev", tmp_path / "dev"]
    assert "NAME=PATTERN was expected" in refusal(run(*both, "--choose", "best=x*"))
    assert "no rows of --choose" in refusal(
        run(*both, "--choose", "best=[gp]*[dn]", "-o", tmp_path / "r.html")
    )
    done = run(*both, "--choose", "best=[gp]*[dn]")
    assert done.exit_code == 0, done.output
    assert "best: the best of 2 on six, good." in done.output
    assert done.output.startswith("nDCG@10, 5 data sets: best is better than plain-2")


def test_repeats_are_one_row_with_their_spread_and_p_is_that_of_python(benchmark, tmp_path):
    for number in range(1, 4):  # the first documents of each ranking, so that the repeats differ
        for source in sorted((benchmark[1] / "good").iterdir()):
            target = benchmark[1] / f"llm-seed{number}" / source.name
            target.parent.mkdir(exist_ok=True)
            rankings = read_run(source).as_dict()
            kept = {query: dict([*docs.items()][:number]) for query, docs in rankings.items()}
            write_run(Run(kept), target)
    line = ["bench", *benchmark, "--baseline", "plain", "--keep", tmp_path / "out"]
    latex, saved = tmp_path / "t.tex", tmp_path / "t.json"
    done = run(*line, "--repeats", "llm=llm-seed*", "-o", latex, "-o", saved)
    assert done.exit_code == 0, done.output
    across = AcrossDatasets.load(tmp_path / "t.compare.json")
    assert set(across.systems) == {"plain", "good", "llm"}
    results = {
        name: {
            dataset.name: [
                evaluate(QRELS, read_run(run_of / f"{dataset.name}.trec"), "nDCG@10")
                for run_of in sorted(benchmark[1].glob(f"{name}*"))
            ]
            for dataset in across.datasets
        }
        for name in ("good", "llm", "plain")
    }
    expected = compare_benchmark(results, baseline="plain")
    assert across.differences == expected.differences
    spread = stdev(map(fmean, zip(*across.repeats["llm"].values(), strict=True)))
    assert f"{across.average('llm').average:.4f} ± {spread:.4f}" in latex.read_text()
    assert "repeats (3 of llm); where it stands, the test is over queries and" in done.stdout
    for options, words in (
        (["--repeats", "good=llm-*"], "another system has this name"),
        (["--repeats", "a=llm-*", "--repeats", "b=*-seed*"], "or one of its"),
        (["--repeats", "llm=llm-*", "-o", tmp_path / "r.html"], "leave out -o FILE.html"),
    ):
        assert words in refusal(run(*line, *options))
    assert "add --compare" in refusal(run("bench", *benchmark, "--repeats", "llm=llm-*"))


def test_options_of_a_comparison_need_it(benchmark, tmp_path):
    on = ["--on", "intersection"]
    assert "add --compare" in refusal(run("bench", *benchmark, *on, "--keep", tmp_path / "out"))
    alone, both = (
        run("bench", *benchmark, *options, "--baseline", "plain", "--keep", tmp_path / "out")
        for options in ([], ["--compare"])
    )
    assert alone.stdout == both.stdout
    assert alone.stdout.startswith("nDCG@10, 6 data sets: good is better than plain")
