"""The report as a file: its text, its data, its size, its security and the input it refuses."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from beir_eval import EvaluationResult, compare, compare_runs, compare_slices, evaluate
from beir_eval.benchmark import BenchmarkResult, compare_benchmark
from beir_eval.comparison.checkpoints import checkpoint_curve
from beir_eval.errors import InputError, ResultError, SettingError
from beir_eval.report import write_report
from beir_eval.report.page import vendored_packages
from made_results import made as result_of
from report_cases import HOSTILE, benchmark_of, bundled, hostile, made, staged

LARGEST = 6_000_000


class Page(HTMLParser):
    """A parsed page: its elements with attributes, and the text of scripts, styles and the rest."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.styles, self.words = [], [], [], []
        self._open_element = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open_element = (tag, dict(attributes))

    def handle_endtag(self, tag):
        self._open_element = None

    def handle_data(self, text):
        tag, attributes = self._open_element or ("", {})
        if tag == "script":
            self.scripts.append((attributes, text))
        elif tag == "style":
            self.styles.append(text)
        else:
            self.words.append(text)

    @property
    def data(self):
        return next(
            json.loads(text) for attributes, text in self.scripts if attributes.get("id") == "data"
        )

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def page_of(path, source, **options):
    write_report(path, source, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture
def page(comparison, texts, tmp_path):
    """The report of the bundled runs."""
    return page_of(tmp_path / "r.html", comparison, **texts)


# Text


def test_the_first_box_has_the_verdicts_on_all_measures_and_the_sentences_and_folds_none(
    comparison, tmp_path
):
    write_report(tmp_path / "r.html", comparison)
    section = (tmp_path / "r.html").read_text().partition('<section class="verdict')[2]
    section = unescape(section.partition("</section>")[0])
    document = comparison.document()
    assert "<details>" not in section
    for text in [*(text for text, _ in document.sentences), *document.notes]:
        assert text in section


def test_the_path_and_what_is_reported_may_come_in_either_order(tmp_path):
    qrels = {query: {"d": 1} for query in "pq"}
    run = {query: {"d": 1.0} for query in qrels}
    comparison = compare_runs(qrels, dict.fromkeys("ab", run), ["MRR"])
    write_report(tmp_path / "a.html", comparison)
    write_report(comparison, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


def test_a_cutoff_beyond_every_ranking_is_marked_in_a_comparison(tmp_path):
    comparison = made(6, 2, depth=5, measures=("nDCG@10", "nDCG@3"))
    text = page_of(tmp_path / "r.html", comparison).text
    assert "system nDCG@10 * nDCG@3" in text
    assert "* the run has at most 5 documents per query" in text


def compared_rows(comparison, folder):
    """Return the captions of the tables of systems, and the cells of their rows."""
    write_report(folder / "r.html", comparison)
    text = (folder / "r.html").read_text()
    captions = [unescape(caption) for caption in re.findall("<caption>(.*?)</caption>", text)]
    tables = text.split('<table class="compared">')[1:]
    rows = [re.findall("<tr class.*?</tr>", table.partition("</table>")[0]) for table in tables]
    return captions[: len(tables)], rows


def test_a_pair_has_a_row_for_each_system_with_its_difference_drawn_beside_it(tmp_path):
    runs = {"a": {"q": {"d": 1.0}, "p": {"x": 1.0}}, "b": {"q": {"x": 1.0}, "p": {"e": 1.0}}}
    names = ["P@1", "MRR", "nDCG@3"]
    qrels = {"q": {"d": 1}, "p": {"e": 1}}
    captions, tables = compared_rows(compare_runs(qrels, runs, names, baseline="a"), tmp_path)
    measures = ["Precision@1", "MRR", "nDCG@3"]
    assert [caption.partition(":")[0] for caption in captions] == measures
    for rows in tables:
        drawn = {re.search("<th.*?>(.*?)</th>", row)[1]: "<circle" in row for row in rows}
        assert drawn == {"a": False, "b": True}


def test_a_difference_is_drawn_in_its_place_between_the_ends_of_its_interval(tmp_path):
    [rows] = compared_rows(made(40, 3), tmp_path)[1]
    for row in (row for row in rows if "<circle" in row):  # all but the baseline
        numbers = [float(text) for text in re.findall(r">([+-]0\.\d+)", row)]
        low, high = (
            float(end)
            for end in re.search('<line x1="([^%]+)%" x2="([^%]+)%" y1="50', row).groups()
        )
        middle, zero = (float(re.search(f'{name}="(.+?)%"', row)[1]) for name in ("cx", 'zero" x1'))
        assert low <= middle <= high
        assert (middle > zero) == (numbers[0] > 0)


def test_an_unbounded_interval_is_drawn_to_the_edges(tmp_path):
    rows = {name: {"q1": 0.2, "q2": score} for name, score in (("a", 0.1), ("b", 0.9))}
    results = [
        EvaluationResult.from_scores(name, {"x": scores}, higher_is_better=True)
        for name, scores in rows.items()
    ]
    [rows] = compared_rows(compare(results, baseline="a"), tmp_path)[1]
    [drawn] = [row for row in rows if "<circle" in row]
    assert '<line x1="0.0%" x2="100.0%"' in drawn


def test_of_all_pairs_the_figure_has_the_signs_of_the_table(tmp_path):
    comparison = compare(dict(made(40, 4).results), draws=500)
    page = page_of(tmp_path / "r.html", comparison)
    [figure] = page.data["figures"].values()
    rows = figure["datasets"]["rows"]
    assert len(rows) == 6
    assert all(row["difference"] >= 0 for row in rows)
    best = [row[0] for row in comparison.document().tables[0].rows]
    assert rows[0]["label"] == f"{best[0]} − {best[1]}"


def test_a_much_lower_share_of_judged_documents_stands_beside_the_verdict(tmp_path):
    qrels = {query: {str(doc): doc % 2 for doc in range(10)} for query in "pqr"}
    docs = [*range(4), *range(100, 106)]
    runs = {
        "old": {query: {str(doc): -float(doc) for doc in range(10)} for query in "pqr"},
        "new": {query: {str(doc): -float(doc) for doc in docs} for query in "pqr"},
    }
    comparison = compare_runs(qrels, runs, ["nDCG@9"], baseline="old")
    sentence = "few documents in the top 9 are judged: 44% of new, but 100% of old."
    assert sentence in page_of(tmp_path / "r.html", comparison).text


def test_an_interval_that_excludes_0_beside_undecided_is_explained():
    rng = np.random.default_rng(3)
    base = rng.uniform(0.2, 0.6, 30)
    systems = {"base": base} | {
        str(index): base + rng.normal(0.02 * (index == 0), 0.06, 30) for index in range(12)
    }
    results = [result_of(row, name, ("MRR",)) for name, row in systems.items()]
    uncorrected = compare(results, baseline="base", interval="t", correction="bonferroni")
    excluded = [
        difference.system
        for difference in uncorrected.differences
        if difference.verdict == "undecided" and not difference.low <= 0 <= difference.high
    ]
    assert excluded
    note = "The intervals are not of the test: an interval and its verdict may disagree."
    assert note in uncorrected.document().notes
    assert note not in compare(results, baseline="base").document().notes


def test_results_without_a_comparison_are_shown_without_a_verdict(comparison, texts, tmp_path):
    results = [result for [result] in comparison.results.values()]
    page = page_of(tmp_path / "r.html", results, **texts)
    assert page.data["parts"][0]["systems"] == [result.name for result in results]
    assert page.data["parts"][0]["pair"] == [1, 0]  # the first is the baseline
    assert "is better than" not in page.text
    assert f"{results[0]['nDCG@10']:.4f}" in page.text


def test_both_means_are_shown_when_queries_are_missing(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    result = evaluate(qrels, {"q1": {"a": 1.0}}, ["MRR"], name="half", keep_top=5)
    text = page_of(tmp_path / "r.html", result).text
    assert "half (all 2 judged queries) 0.5000" in text
    assert "half (the 1 it has) 1.0000" in text


def test_a_curve_of_checkpoints_is_a_section(tmp_path):
    comparison = compare(made(12, 3).results, baseline="system 0", alpha=0.005)
    curve = checkpoint_curve(comparison.results, draws=2000)
    page = page_of(tmp_path / "r.html", comparison, curve=curve)
    assert "From checkpoint to checkpoint" in page.text
    assert "Means over 12 queries with 99.5% t intervals" in page.text
    for note in curve.notes():
        assert note in page.text
    assert "curve-0" in page.data["figures"]


def slices_of(comparison, labels):
    """Return the comparison by slices of a column "kind": {label: number of queries}."""
    kinds = [kind for kind, count in labels.items() for _ in range(count)]
    column = dict(zip(comparison.query_ids, kinds, strict=True))
    return compare_slices(
        comparison.results,
        {"kind": column},
        baseline=comparison.baseline,
        measures=comparison.measures,
        draws=2000,
    )


def test_slices_are_a_section_with_a_verdict_for_each_slice_and_measure(tmp_path):
    comparison = made(40, 2, measures=("nDCG@10", "Recall@10"))
    sliced = slices_of(comparison, {"long": 25, "short": 14, "odd": 1})
    page = page_of(tmp_path / "r.html", comparison, slices=sliced)
    section = page.text.partition("By slice")[2].partition("Queries")[0]
    for row in sliced.differences_table().rows:
        assert re.search(rf"{row[0]} {row[1]} {row[2]} .*? {row[-1]}", section)
    assert "fewer than 2 queries with a score, not compared: odd (1 query)" in section
    for figure in ("slices-0", "slices-1"):
        rows = page.data["figures"][figure]["datasets"]["rows"]
        assert [row["label"] for row in rows] == ["long (25 queries)", "short (14 queries)"]


@pytest.mark.parametrize(("with_baseline", "columns"), [(True, 1), (False, 2)])
def test_slices_of_several_systems_name_the_systems_of_each_difference(
    tmp_path, with_baseline, columns
):
    comparison = made(20, 3)
    if not with_baseline:
        comparison = compare(comparison.results, draws=2000)
    sliced = slices_of(comparison, {"long": 12, "short": 8})
    page = page_of(tmp_path / "r.html", comparison, slices=sliced)
    heading = "slice queries measure " + " ".join(("system", "against")[:columns]) + " difference"
    assert heading in page.text
    named = "The evidence by slice: against system 0 in every row"
    assert (named in page.text) == with_baseline


def test_more_differences_within_slices_than_fit_are_cut_with_a_notice(tmp_path, monkeypatch):
    monkeypatch.setattr("beir_eval.report.further_sections._MOST_CELLS", 39)
    comparison = made(20, 3)
    sliced = slices_of(comparison, {"long": 12, "short": 8})
    page = page_of(tmp_path / "r.html", comparison, slices=sliced)
    assert "The evidence by slice: the first 3 of 4 rows are shown" in page.text


def test_a_benchmark_begins_with_the_verdict_over_its_data_sets(tmp_path):
    benchmark = benchmark_of(made(20, 2, seed=1), made(30, 2, seed=2))
    across = compare_benchmark(benchmark, baseline="system 0", draws=2000)
    page = page_of(tmp_path / "r.html", benchmark, across=across)
    box, _, rest = page.text.partition("By the average over data sets")
    assert across.headline().text in box
    assert across.headline().text.endswith(
        "data sets: undecided whether system 1 or system 0 is better on average"
    )
    for table in (across.to_table(), across.differences_table()):
        for row in table.rows:
            assert " ".join(str(cell) for cell in row if cell) in rest
    assert all(note in rest for note in across.notes())
    assert page.data["parts"][0]["pair"] == [1, 0]
    spec = page.data["figures"]["across"]
    assert "margin" not in spec["description"]
    assert [row["label"] for row in spec["datasets"]["rows"]] == ["system 1"]


def test_a_data_set_that_is_not_in_the_verdict_is_named_beside_it(tmp_path):
    benchmark = benchmark_of(made(20, 2, seed=1), made(30, 2, seed=2))
    del benchmark.results["system 1"]["set 1"]
    across = compare_benchmark(benchmark, baseline="system 0", on="intersection", draws=2000)
    page = page_of(tmp_path / "r.html", benchmark, across=across)
    box = page.text.partition("By the average over data sets")[0]
    assert "nDCG@10, 1 data set:" in box
    assert "set 1 is not part of these averages: no result of system 1" in box


def test_a_comparison_of_other_systems_or_without_a_benchmark_is_refused(tmp_path):
    comparison, other = made(20, 2), made(20, 3)
    target = tmp_path / "r.html"
    sliced = slices_of(other, {"long": 12, "short": 8})
    with pytest.raises(InputError, match=r"slices compares systems that .*: 'system 2'"):
        write_report(target, comparison, slices=sliced)
    across = compare_benchmark(benchmark_of(comparison, comparison), draws=2000)
    with pytest.raises(InputError, match="pass the BenchmarkResult, not Comparison"):
        write_report(target, comparison, across=across)
    with pytest.raises(InputError, match=r"across compares data sets that .*: 'set 1'"):
        write_report(target, benchmark_of(comparison), across=across)
    assert not target.exists()


def test_a_benchmark_with_an_undefined_mean_is_shown(tmp_path):
    qrels = {"q1": {"a": 0}, "q2": {"a": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    result = evaluate(qrels, run, ["MRR"], name="A", no_relevant="skip", keep_top=1)
    benchmark = BenchmarkResult({"A": {"set": result}}, {}, {"set": None}, {"set": "test"})
    page = page_of(tmp_path / "r.html", benchmark)
    assert page.data["figures"]["datasets"]["datasets"]["rows"] == [
        {"dataset": "set", "system": "A", "mean": None}
    ]
    # nDCG@10 is the default measure, but only if it was evaluated.
    assert page.data["parts"][0]["measures"] == ["MRR"]
    assert "MRR by data set" in page.text


def test_only_means_over_the_same_queries_are_compared_for_the_best(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    half = evaluate(qrels, {"q1": {"a": 1.0}}, ["MRR"], name="half")
    whole = evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"x": 2, "b": 1}}, ["MRR"], name="whole")
    write_report(tmp_path / "r.html", [half, whole])
    means = (tmp_path / "r.html").read_text().partition('<table class="means">')[2]
    assert re.findall("<strong>(.*?)</strong>", means.partition("</table>")[0]) == ["0.7500"]


def test_the_number_of_queries_that_a_measure_is_defined_for_is_stated(tmp_path):
    qrels = {f"q{n}": {"a": 1 if n < 8 else 0} for n in range(10)}
    runs = {
        "A": {query: {"a": 2.0, "x": 1.0} for query in qrels},
        "B": {query: {"a": 1.0, "x": 2.0} for query in qrels},
    }
    comparison = compare_runs(qrels, runs, ["MRR", "Judged@2"], no_relevant="skip")
    text = page_of(tmp_path / "r.html", comparison).text
    assert "a measure is defined for (MRR over 8, Judged@2 over 10 of 10)" in text


def test_many_measures_are_shown_as_rows_with_ndcg_at_10_first(tmp_path):
    comparison = made(5, 2, measures=tuple(f"nDCG@{k}" for k in range(1, 13)))
    page = page_of(tmp_path / "r.html", comparison)
    assert re.search(r"measure system (0 \(baseline\) system 1|1 system 0 \(baseline\))", page.text)
    # nDCG@10 comes first, because most readers look for it.
    results = [result for [result] in comparison.results.values()]
    assert page_of(tmp_path / "r.html", results).data["parts"][0]["measures"][0] == "nDCG@10"


def test_failures_of_a_benchmark_are_listed(tmp_path):
    results = {name: {"set": result} for name, (result,) in made(5, 2).results.items()}
    failures = {"bad": {"set": f"RunError: {HOSTILE}"}}
    benchmark = BenchmarkResult(results | {"bad": {}}, failures, {"set": None}, {"set": "test"})
    page = page_of(tmp_path / "r.html", benchmark)
    assert f"bad, set: failed with RunError: {HOSTILE}" in page.text
    answer, failure = benchmark.document().sentences
    assert (answer.text in page.text, page.text.count(failure.text)) == (True, 1)


# Data


def test_rankings_hold_grades_titles_and_texts(comparison, texts, page):
    [part] = page.data["parts"]
    documents = {document.doc_id: document for document in texts["corpus"]}
    assert len(part["rankings"]) == len(comparison.query_ids)
    for index, rankings in part["rankings"].items():
        query = part["queries"][int(index)][0]
        for name, positions in zip(part["systems"], rankings, strict=True):
            top = comparison.results[name][0].top[query]
            assert [part["documents"][position][0] for position in positions] == list(
                top.doc_ids[:10]
            )
            grades = part["grades"][index]
            assert [grades.get(str(position)) for position in positions] == list(top.grades[:10])
    for doc_id, title, text in part["documents"]:
        assert title == documents[doc_id].title
        assert " ".join(documents[doc_id].text.split()).startswith(text.removesuffix(" …"))


def test_the_corpus_may_be_a_dict_of_texts_or_of_titles_and_texts(tmp_path):
    comparison = made(3, 2)
    for corpus, expected in (
        ({"right 0": "plain"}, ["right 0", "", "plain"]),
        ({"right 0": {"title": "T", "text": "x"}}, ["right 0", "T", "x"]),
        ({"right 0": {"text": None}}, ["right 0", "", ""]),
    ):
        [part] = page_of(tmp_path / "r.html", comparison, corpus=corpus).data["parts"]
        assert expected in part["documents"]


def test_top_limits_the_documents_shown_per_ranking(comparison, tmp_path):
    [part] = page_of(tmp_path / "r.html", comparison, top=3).data["parts"]
    assert max(len(ranking) for rankings in part["rankings"].values() for ranking in rankings) == 3
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(SettingError, match="top"):
            write_report(tmp_path / "r.html", comparison, top=wrong)


def test_scores_are_exact_and_undefined_scores_are_null(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    result = evaluate(qrels, {"q1": {"x": 2.0, "y": 1.5, "a": 1.0}}, ["Judged@10", "nDCG@10"])
    [part] = page_of(tmp_path / "r.html", result).data["parts"]
    assert part["scores"]["Judged@10"] == [[1 / 3, None]]
    assert part["scores"]["nDCG@10"] == [[0.5, 0.0]]


# Size


@pytest.mark.slow
@pytest.mark.parametrize("text", ["日本語の長い文章 " * 400, '<"' * 2000])
def test_five_systems_over_300_queries_stay_below_6_mb_with_all_rankings(tmp_path, text):
    comparison = made(300, 5, measures=("nDCG@10", "Recall@10", "MRR@10"))
    corpus = {
        doc_id: {"title": text[:90], "text": text}
        for [result] in comparison.results.values()
        for top in result.top.values()
        for doc_id in top.doc_ids
    }
    queries = dict.fromkeys(comparison.query_ids, text)
    page = page_of(tmp_path / "r.html", comparison, queries=queries, corpus=corpus)
    assert (tmp_path / "r.html").stat().st_size < LARGEST
    [part] = page.data["parts"]
    assert len(part["rankings"]) == 300
    # The space is used: the queries on which the systems differ most have texts.
    assert (tmp_path / "r.html").stat().st_size > 0.6 * LARGEST
    assert part["documents"][0][2].removesuffix(" …") in " ".join(text.split())


@pytest.mark.slow
def test_many_data_sets_stay_below_6_mb(tmp_path):
    comparison = made(300, 3, measures=tuple(f"nDCG@{k}" for k in range(1, 31)))
    names = [f"set {number}" for number in range(18)]
    results = {
        system: dict.fromkeys(names, repeats[0]) for system, repeats in comparison.results.items()
    }
    benchmark = BenchmarkResult(results, {}, dict.fromkeys(names), dict.fromkeys(names, "test"))
    page = page_of(tmp_path / "r.html", benchmark)
    assert (tmp_path / "r.html").stat().st_size < LARGEST
    assert min(len(part["rankings"]) for part in page.data["parts"]) > 200


def test_the_queries_that_differ_least_are_omitted_first_and_the_report_says_so(
    tmp_path, monkeypatch
):
    from beir_eval.report import payload, write  # noqa: PLC0415

    monkeypatch.setattr(payload, "MOST_QUERIES", 40)
    monkeypatch.setattr(payload, "MOST_SCORE_BYTES", 1550)
    comparison = made(100, 2, measures=("nDCG@10", "Recall@10", "MRR@10"))
    page_of(tmp_path / "whole.html", comparison)
    monkeypatch.setattr(write, "MOST_BYTES", (tmp_path / "whole.html").stat().st_size)
    page = page_of(tmp_path / "r.html", comparison)
    [part] = page.data["parts"]
    assert len(part["queries"]) == 40
    assert "the table and the charts hold 40 of 100 queries" in page.text
    measures = part["measures"]
    assert 1 <= len(measures) < 3
    assert (
        f"scores by query are held for {len(measures)} of 3 measures: {', '.join(measures)}"
        in page.text
    )
    num_held = len(part["rankings"])
    assert 0 < num_held < 40
    assert f"rankings are held for {num_held} of 40 queries" in page.text
    # The differences of held queries are at least as large as those of omitted queries.
    differences = np.abs(np.subtract(*comparison.scores["nDCG@10"].array))
    difference_of = dict(zip(comparison.query_ids, differences, strict=True))
    held_queries = {query for query, _ in part["queries"]}
    assert min(difference_of[query] for query in held_queries) >= max(
        difference_of[query] for query in difference_of.keys() - held_queries
    )
    ranked_queries = {part["queries"][int(index)][0] for index in part["rankings"]}
    assert min(difference_of[query] for query in ranked_queries) >= max(
        difference_of[query] for query in held_queries - ranked_queries
    )


# Security


def test_the_content_security_policy_allows_only_scripts_and_styles_by_hash(page):
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    scripts = [text for attributes, text in page.scripts if "type" not in attributes]
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in [*scripts, *page.styles]
    ]
    assert sorted(re.findall(r"'sha256-([^']+)'", policy)) == sorted(hashes)


@pytest.mark.parametrize("make_case", [bundled, hostile])
def test_no_element_loads_a_resource_or_has_an_inline_script(make_case, tmp_path):
    comparison, texts = make_case()
    page = page_of(tmp_path / "r.html", comparison, **texts)
    for tag, attributes in page.elements:
        assert tag not in {"img", "iframe", "object", "embed", "link", "base", "b"}
        assert not [
            name for name in attributes if name.startswith("on") or name in {"src", "style"}
        ]
        assert attributes.get("href", "#").startswith("#")


def test_hostile_names_and_texts_are_escaped(tmp_path):
    comparison, texts = hostile()
    page = page_of(tmp_path / "r.html", comparison, **texts)
    assert f"{HOSTILE} one is better than {HOSTILE} two" in page.text
    [part] = page.data["parts"]
    query = f"{HOSTILE} query 0"
    assert part["queries"][0] == [query, f"{HOSTILE} text of {query}"]
    assert [f"{HOSTILE} good", f"{HOSTILE} title", f"{HOSTILE} text"] in part["documents"]
    raw = (tmp_path / "r.html").read_text()
    assert "<img" not in raw


def test_unusual_characters_in_ids_are_kept(tmp_path):
    odd = "a\u2028b \x00 \ud800 \r\n ]]> <!-- é 日"
    qrels = {"q": {odd: 1}, "p": {"x": 1}}
    run = {"q": {odd: 1.0}, "p": {"x": 1.0}}
    result = evaluate(qrels, run, ["MRR"], name="odd", keep_top=1)
    [part] = page_of(tmp_path / "r.html", result).data["parts"]
    assert part["documents"][0][0] == odd


def test_vendored_scripts_have_their_recorded_hashes_and_their_licences_are_in_the_page(page):
    folder = files("beir_eval.report") / "vendor"
    for package in vendored_packages():
        script = (folder / package["file"]).read_bytes()
        assert hashlib.sha256(script).hexdigest() == package["sha256"]
        assert b"\r" not in script
        licence = (folder / f"{package['package']}.LICENSE.txt").read_text()
        assert re.sub(r"\s+", " ", licence).strip() in page.text
        assert f"{package['package']} {package['version']}" in page.text


# Refused input, and results that a comparison keeps


def test_results_with_the_same_name_or_no_common_measure_are_refused(tmp_path):
    first = evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["MRR"], name="A")
    with pytest.raises(ResultError, match="different names"):
        write_report(tmp_path / "r.html", [first, first])
    second = evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["nDCG"], name="B")
    with pytest.raises(ResultError, match="no measure in common"):
        write_report(tmp_path / "r.html", [first, second])


def test_results_with_fingerprints_of_different_judgements_are_refused(tmp_path):
    results = [
        evaluate({"q": {doc_id: 1}}, {"q": {doc_id: 1}}, ["MRR"], name=doc_id, fingerprint=True)
        for doc_id in ("a", "b")
    ]
    with pytest.raises(ResultError, match="different judgements"):
        write_report(tmp_path / "r.html", results)


def test_what_is_no_result_and_has_no_texts_is_refused(tmp_path, comparison):
    target = tmp_path / "r.html"
    with pytest.raises(InputError, match="a report shows a Comparison"):
        write_report(target, "abc")
    with pytest.raises(InputError, match="queries must be"):
        write_report(target, comparison, queries=["q"])
    with pytest.raises(InputError, match="corpus must be"):
        write_report(target, comparison, corpus="corpus.jsonl")


def test_a_query_without_a_text_has_an_empty_one(tmp_path, comparison):
    [part] = page_of(tmp_path / "r.html", comparison, queries={"q01": None}).data["parts"]
    assert {text for _, text in part["queries"]} == {""}


def test_a_report_without_results_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one result"):
        write_report(tmp_path / "r.html", [])
    with pytest.raises(InputError, match="at least one result"):
        write_report(tmp_path / "r.html", BenchmarkResult({"a": {}}, {}, {}, {}))
    assert list(tmp_path.iterdir()) == []


def test_stages_have_a_bar_each_an_account_and_the_ranks_of_the_relevant_documents(tmp_path):
    result = staged()
    texts = {"queries": {"q0": "first query"}, "corpus": {"c": {"title": "<i>Never found"}}}
    page = page_of(tmp_path / "r.html", result, **texts)
    figures = [name for name in page.data["figures"] if name.startswith("stages-")]
    assert len(figures) == 2
    for words in (
        "The relevant documents, with their rank in each stage",
        "dropped at <b>ranker",
        "never retrieved",
        "<i>Never found",
        "first query",
        "not retrieved",
    ):
        assert words in page.text
    assert "<i>Never" not in (tmp_path / "r.html").read_text().split("<script")[0]
    assert result.ranks["q0"] == {"a": (2, 1), "b": (3, 0), "c": (0, 0)}
    assert len(result.ranks_table().rows) == 12 * 3
