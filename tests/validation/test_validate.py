"""Every finding is reported where it is true, and not where it is not."""

import gzip
import json
import os
import tomllib
from pathlib import Path

import polars as pl
import pytest

from beir_eval import BeirEvalWarning, Qrels, Run, Validation, load_dataset, read_qrels, validate
from beir_eval.datasets import demo
from beir_eval.errors import FileFormatError, RunError, SettingError
from beir_eval.inspection.finding import finding_texts
from beir_eval.inspection.spellings import IdMatcher
from beir_eval.inspection.unmatched_ids import check_spellings
from data_sets import write_dataset

QUERIES = [f"q{number}" for number in range(8)]
QRELS = {query: {f"{query}-a": 2, f"{query}-b": 1, f"{query}-c": 0} for query in QUERIES}
RUN = {
    query: {f"{query}-{letter}": 9.0 - rank for rank, letter in enumerate("axbyz")}
    for query in QUERIES
}
TEXTS = {query: f"question {query}" for query in QUERIES}
CORPUS = {doc_id: f"text of {doc_id}" for judged in QRELS.values() for doc_id in judged}
MEASURES = ["nDCG@5", "MAP(rel=2)"]


def file(content, name="file"):
    """Write a file into the current folder, and return its name."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def trec_run(run=RUN, rank_of=lambda rank: rank):
    return "".join(
        f"{query} Q0 {doc} {rank_of(rank)} {score} tag\n"
        for query, ranking in run.items()
        for rank, (doc, score) in enumerate(ranking.items(), start=1)
    )


def scored(score_of, first=1):
    """Return the run with other scores: ``score_of(rank)``, the ranks counted from ``first``."""
    return {
        query: {doc: score_of(rank) for rank, doc in enumerate(ranking, start=first)}
        for query, ranking in RUN.items()
    }


def respelled(run, change):
    return {
        query: {change(doc): score for doc, score in docs.items()} for query, docs in run.items()
    }


def folder(queries=TEXTS, train="", without=""):
    """Write a data set, but one of its files, into the current folder and return its name."""
    write_dataset(Path("set"), CORPUS, queries, QRELS)
    if train:
        file(train, "set/qrels/train.tsv")
    if without:
        Path("set", without).unlink()
    return "set"


def listed(records):
    """Write (id, text) records into a JSON-lines file, and return its name."""
    lines = (json.dumps({"_id": name, "text": text}) + "\n" for name, text in records)
    return file("".join(lines), "records.jsonl")


def pool_run(num_wrong):
    """Return a run over the pool, of which some rankings hold documents of another corpus."""
    return {
        query: {
            f"{f'{query}x' if number < num_wrong else 'd'}{doc}": (1 - doc % 3) + doc / 100
            for doc in range(50)
        }
        for number, query in enumerate(POOL)
    }


#: 50 documents of grades 0, 1 and 2 for each of six queries.
POOL = {f"q{query}": {f"d{doc}": doc % 3 for doc in range(50)} for query in range(6)}
SORTED_POOL = {
    query: {doc: grade + 3.5 - int(doc[1:]) / 100 for doc, grade in judged.items()}
    for query, judged in POOL.items()
}
GRADED = {str(query): {str(doc): doc % 4 for doc in range(60)} for query in range(3)}

#: Rankings of which the first four documents are judged, and no other.
FIRST_RANKED = {
    f"q{query}": {f"{query}-{doc}": 9.5 - doc - query / 10 for doc in range(9)}
    for query in range(6)
}
FIRST_JUDGED = {
    query: {doc: doc[-1] in "13" for doc in list(docs)[:4]} for query, docs in FIRST_RANKED.items()
}

#: A run whose scores are all different.
IRREGULAR = {
    query: {doc: score + number / 100 for doc, score in RUN[query].items()}
    for number, query in enumerate(QUERIES)
}


def repeated_queries(num_queries, num_repeated):
    """Return qrels and a run whose last queries are the first ones under other ids."""
    ids = [f"q{number % (num_queries - num_repeated)}" for number in range(num_queries)]
    qrels = {f"id{number}": {f"{name}-d3": 1} for number, name in enumerate(ids)}
    run = {
        f"id{number}": {f"{name}-d{rank}": -rank for rank in range(10)}
        for number, name in enumerate(ids)
    }
    return qrels, run


#: {code: the fact that its case shows}, computed by hand.
FACTS = tomllib.loads((Path(__file__).parent / "facts.toml").read_text())
#: For each code: a call that shows the finding, a similar call that does not, and the count. A call
#: is a function without arguments that returns the positional and the keyword arguments.
CASES = {
    "judgements-disagree": (
        lambda: (file("q1 0 a 1\nq1 0 a 2\nq1 0 b 0\n"),),
        lambda: (file("q1 0 a 1\nq1 0 c 2\nq1 0 b 0\n"),),
        1,
    ),
    "judgements-by-subtopic": (
        lambda: (file("".join(f"q1 {topic} a {topic % 2}\n" for topic in (1, 2, 3))),),
        # Two grades of one subtopic disagree.
        lambda: (file("q1 1 a 1\nq1 1 a 0\nq1 2 a 0\n"),),
        1,
    ),
    "judgements-repeated": (
        lambda: (file("q1 0 a 1\nq1 0 a 1\nq1 0 b 0\n"),),
        lambda: (file("q1 0 a 1\nq1 0 b 0\n"),),
        1,
    ),
    "header-read-as-data": (
        lambda: ({**QRELS, "query-id": {"corpus-id": 0}},),
        lambda: ({**QRELS, "query-id": {"a document": 0}},),
        1,
    ),
    "mixed-encodings": (
        lambda: (file("q1 0 caf\xe9 1\nq2 0 b 0\n".encode("latin-1")),),
        lambda: (file("q1 0 caf\xe9 1\nq2 0 b 0\n"),),
        1,
    ),
    "swapped-files": (lambda: (IRREGULAR, QRELS), lambda: (QRELS, RUN), 1),
    "grades-look-like-ranks": (
        lambda: (file("q1\ta\t1\nq1\tb\t2\nq1\tc\t3\n"),),
        lambda: (file("q1\ta\t1\nq1\tb\t2\nq1\tc\t2\n"),),
        3,
    ),
    "unusual-grades": (
        lambda: ({"q1": {"a": 0.5, "b": 11, "c": 10, "d": 0}},),
        lambda: ({"q1": {"a": 1, "b": 10, "c": 10, "d": 0}},),
        2,
    ),
    "negative-grades": (
        lambda: ({"q1": {"a": 1, "b": -2, "c": 0}},),
        lambda: ({"q1": {"a": 1, "b": 0}},),
        1,
    ),
    "relevant-and-excluded": (
        lambda: (Qrels({"q1": {"a": 1, "b": 0, "c": 2}}).excluding({"q1": ["a", "b"]}),),
        lambda: (Qrels({"q1": {"a": 1, "b": 0, "c": 2}}).excluding({"q1": ["b"]}),),
        1,
    ),
    "positives-only": (lambda: ({"q1": {"a": 1}},), lambda: ({"q1": {"a": 1}, "q2": {"b": 0}},), 1),
    "no-relevant-documents": (
        lambda: ({"q1": {"a": 0}, "q2": {"b": 0}},),
        lambda: ({"q1": {"a": 1}, "q2": {"b": 0}},),
        2,
    ),
    "queries-without-relevant": (
        lambda: ({"q1": {"a": 1}, "q2": {"b": 0}},),
        lambda: ({"q1": {"a": 1}, "q2": {"b": 1}},),
        1,
    ),
    "queries-without-judgements": (
        lambda: (folder({**TEXTS, "q9": "a question"}, "q8\ta\t1\n"),),
        lambda: (folder({**TEXTS, "q9": "a question"}, "q9\ta\t1\n"),),
        1,
    ),
    "level-above-grades": (
        lambda: ({"q1": {"a": 2}}, {"measures": ["MAP(rel=3)", "nDCG"]}),
        lambda: ({"q1": {"a": 2}}, {"measures": ["MAP(rel=2)", "nDCG"]}),
        1,
    ),
    "deep-learning-grades": (
        lambda: (GRADED,),
        # Documents, of which those with grade 1 are relevant in the tracks too.
        lambda: (respelled(GRADED, "D{}".format),),
        45,
    ),
    "grades-without-zero": (
        lambda: ({"q1": {f"d{number}": 1 + number % 4 for number in range(50)}},),
        lambda: ({"q1": {f"d{number}": 1 + number % 3 for number in range(50)}},),
        50,
    ),
    "numbered-grades": (
        lambda: ({f"q{n}": {f"d{d}": 20 * n + d for d in range(20)} for n in (0, 1)},),
        lambda: ({"q1": {f"d{number}": number for number in range(40)}},),
        39,
    ),
    "query-ids-do-not-match": (
        lambda: (QRELS, {f"topic {query}": ranking for query, ranking in RUN.items()}),
        lambda: (QRELS, {**RUN, "topic": {"a": 1.0}}),
        8,
    ),
    "document-ids-do-not-match": (
        lambda: (QRELS, respelled(RUN, "msmarco_{}".format)),
        lambda: (QRELS, RUN),
        40,
    ),
    "ids-nearly-match": (
        lambda: (QRELS, {**RUN, "q1": {"q1-a ": 2.0, "q1-x": 1.5, "q1-b": 1.0}}),
        lambda: (QRELS, {**RUN, "q1": {"q1-a x": 2.0, "q1-x": 1.5, "q1-b": 1.0}}),
        1,
    ),
    "rounded-ids": (
        lambda: (QRELS, {**RUN, "q1": {f"1.{number}e+06": 1 / number for number in range(10, 45)}}),
        lambda: (QRELS, {**RUN, "q1": {f"1.{number}f+06": 1 / number for number in range(10, 45)}}),
        35,
    ),
    "judged-queries-missing": (
        lambda: (QRELS, {query: RUN[query] for query in QUERIES[2:]} | {"q1": {}}),
        lambda: (QRELS, RUN),
        2,
    ),
    "queries-not-judged": (
        lambda: (QRELS, {**RUN, "q9": {"a": 1.0}}),
        lambda: (QRELS, RUN),
        1,
    ),
    "repeated-documents": (
        lambda: (QRELS, file(trec_run() + "q1 Q0 q1-a 6 1.0 tag\n")),
        lambda: (QRELS, file(trec_run() + "q1 Q0 q1-d 6 1.0 tag\n")),
        1,
    ),
    "identical-ids": (
        lambda: (QRELS, {**RUN, "q1": {**RUN["q1"], "q1": 0.5}}),
        lambda: (QRELS, {**RUN, "q1": {**RUN["q1"], "q2": 0.5}}),
        1,
    ),
    "ascending-scores": (
        lambda: (QRELS, scored(float)),
        # In no order: few ascend.
        lambda: (QRELS, {**scored(lambda rank: rank % 3), "q1": scored(float)["q1"]}),
        8,
    ),
    "constant-scores": (
        lambda: (QRELS, scored(lambda _: 1.0)),
        lambda: (QRELS, {**RUN, "q1": dict.fromkeys(RUN["q1"], 1.0)}),
        8,
    ),
    "tied-scores": (
        lambda: (QRELS, scored(lambda rank: -min(rank, 4))),
        lambda: (QRELS, {**RUN, "q1": scored(lambda rank: -min(rank, 4))["q1"]}),
        16,
    ),
    "ranks-against-scores": (
        lambda: (QRELS, file(trec_run(rank_of=lambda rank: (rank + 2) % 5))),
        lambda: (QRELS, file(trec_run(rank_of=lambda rank: rank - 1))),
        8,
    ),
    "swapped-ranks-and-scores": (
        lambda: (QRELS, file(trec_run(scored(float), rank_of=lambda rank: 60 - rank))),
        lambda: (QRELS, file(trec_run(scored(float), rank_of=lambda rank: 60 + rank))),
        8,
    ),
    "relevant-ranked-last": (
        lambda: (QRELS, scored((5.0, 9.0, 6.0, 7.0, 8.0).__getitem__, first=0)),
        lambda: (QRELS, scored((8.0, 9.0, 7.0, 5.0, 6.0).__getitem__, first=0)),
        8,
    ),
    "inverted-grades": (
        lambda: (POOL, {query: {d: -g for d, g in docs.items()} for query, docs in POOL.items()}),
        lambda: (
            POOL,
            {query: {d: g + 5 for d, g in docs.items()} for query, docs in POOL.items()},
        ),
        6,
    ),
    "judgements-as-run": (
        lambda: (QRELS, QRELS),
        lambda: (QRELS, {**RUN, "q1": QRELS["q1"]}),
        8,
    ),
    "sorted-by-labels": (
        lambda: (POOL, SORTED_POOL),
        lambda: (POOL, pool_run(0)),
        6,
    ),
    "judgements-of-this-run": (
        lambda: (FIRST_JUDGED, FIRST_RANKED),
        lambda: (
            FIRST_JUDGED,
            {
                q: FIRST_RANKED["q0"] if q in "q1q2q3q4" else docs
                for q, docs in FIRST_RANKED.items()
            },
        ),
        6,
    ),
    "rankings-of-other-queries": (
        lambda: (QRELS, {query: RUN[f"q{(number + 3) % 8}"] for number, query in enumerate(RUN)}),
        lambda: (QRELS, {**RUN, "q1": RUN["q2"], "q2": RUN["q1"]}),
        8,
    ),
    "rankings-without-judged": (
        lambda: (POOL, pool_run(1)),
        lambda: (POOL, pool_run(0)),
        1,
    ),
    "same-ranking": (
        lambda: (QRELS, {query: {f"d{rank}": -rank for rank in range(30)} for query in QUERIES}),
        lambda: (QRELS, {query: {f"d{rank}": -rank for rank in range(9)} for query in QUERIES}),
        8,
    ),
    "same-queries": (
        lambda: repeated_queries(12, 6),
        lambda: repeated_queries(12, 5),
        6,
    ),
    "shallow-rankings": (
        lambda: (QRELS, RUN, {"measures": ["MRR@3", "nDCG@6"]}),
        lambda: (QRELS, RUN, {"measures": ["MRR", "nDCG@5"]}),
        5,
    ),
    "incomplete-data-set": (
        lambda: (folder(without="corpus.jsonl"),),
        lambda: (folder(without="corpus.jsonl"), {"corpus": CORPUS}),
        1,
    ),
    "repeated-queries": (
        lambda: (QRELS, {"queries": listed([*TEXTS.items(), ("q1", "another text")])}),
        lambda: (QRELS, {"queries": listed([*TEXTS.items(), ("q1", TEXTS["q1"])])}),
        1,
    ),
    "repeated-corpus-documents": (
        lambda: (QRELS, {"corpus": listed([*CORPUS.items(), ("q1-a", "another text")])}),
        lambda: (QRELS, {"corpus": listed(CORPUS.items())}),
        1,
    ),
    "judged-documents-not-in-corpus": (
        lambda: (QRELS, {"corpus": {doc: text for doc, text in CORPUS.items() if doc != "q1-a"}}),
        lambda: (QRELS, {"corpus": CORPUS}),
        1,
    ),
    "judged-queries-without-text": (
        lambda: (QRELS, {"queries": {query: TEXTS[query] for query in QUERIES[1:]}}),
        lambda: (QRELS, {"queries": TEXTS}),
        1,
    ),
    "queries-without-words": (
        lambda: (QRELS, {"queries": TEXTS | {"q1": " ?! "}}),
        lambda: (QRELS, {"queries": TEXTS | {"q1": "7"}}),
        1,
    ),
    "equal-texts-judged-differently": (
        lambda: (QRELS, {"queries": TEXTS | {"q1": " Question  Q2"}}),
        lambda: (
            {**QRELS, "twin": QRELS["q1"]},
            {"queries": TEXTS | {"twin": TEXTS["q1"]}},
        ),
        2,
    ),
    "query-text-in-corpus": (
        lambda: (QRELS, {"corpus": CORPUS | {"leak": " Question  Q1"}, "queries": TEXTS}),
        lambda: (QRELS, {"corpus": CORPUS | {"leak": "Question Q1?"}, "queries": TEXTS}),
        1,
    ),
}


def findings_of(arguments, code):
    """Return the findings of one code in what ``validate`` returns for these arguments."""
    *positional, options = (
        arguments
        if isinstance(arguments[-1], dict)
        and ({"corpus", "queries", "measures"} & set(arguments[-1]))
        else (*arguments, {})
    )
    validation = validate(
        *positional,
        **{"measures": MEASURES, **options} if code != "deep-learning-grades" else options,
    )
    return [finding for finding in validation.findings if finding.code == code]


def test_equal_texts_limit_what_any_system_can_reach():
    qrels = {
        "a": {"x": 1},
        "b": {"y": 1},
        "c": {"y": 1, "z": 2},
        "d": {"x": 0, "w": 1},
        "e": {"none": 0},
    }
    texts = dict.fromkeys("abc", "the same") | {"d": "another", "e": "Another"}
    [finding] = findings_of((qrels, {"queries": texts}), "equal-texts-judged-differently")
    assert finding.fact == "5 judged queries have the text of another one and other judgements"
    assert (finding.count, finding.total, finding.examples) == (5, 5, ("'a', 'b', 'c'",))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_code_has_a_case():
    assert CASES.keys() == {code for code, texts in finding_texts().items() if "meaning" in texts}


@pytest.mark.parametrize("code", CASES)
def test_a_finding_is_reported_with_level_count_and_remedy(code):
    [finding] = findings_of(CASES[code][0](), code)
    texts = finding_texts()[code]
    assert finding.level == texts["level"]
    assert finding.remedy.endswith(texts["remedy"])
    assert finding.count == CASES[code][2]
    assert finding.total is None or finding.count <= finding.total
    assert finding.fact == FACTS[code]
    assert len(finding.examples) <= 2


@pytest.mark.parametrize("code", CASES)
def test_a_finding_is_not_reported_where_it_is_not_true(code):
    assert findings_of(CASES[code][1](), code) == []


def test_queries_of_the_qrels_without_a_judgement_are_counted():
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {}}
    [finding] = findings_of((qrels,), "queries-without-judgements")
    assert finding.fact == "1 of 3 queries of the qrels judge no document"


def test_clean_inputs_have_no_finding():
    validation = validate(QRELS, RUN, corpus=CORPUS, queries=TEXTS, measures=MEASURES)
    assert str(validation) == (
        "no problem found: 8 queries, 24 judgements; texts of 8 queries; a corpus of 24 documents; "
        "run: 8 queries, 5 entries a query"
    )


@pytest.mark.parametrize("suffix", ["_0", "#c1"])
def test_half_of_the_documents_with_the_id_of_a_chunk_are_named(suffix):
    changed = {
        query: {
            f"{doc}{suffix}" if number == 0 else doc: score
            for number, (doc, score) in enumerate(ranking.items())
        }
        for query, ranking in RUN.items()
    }
    assert findings_of((QRELS, RUN), "ids-nearly-match") == []
    [finding] = findings_of((QRELS, changed), "ids-nearly-match")
    assert finding.examples[0] == f"'q0-a' and 'q0-a{suffix}'"


PREFIXED = [("doc:{}".format, "'doc:'"), ("D{}".format, "'D'"), ("ir_ds/".__add__, "'ir_ds/'")]


@pytest.mark.parametrize(("change", "prefix"), PREFIXED)
@pytest.mark.parametrize("has_qrels_prefix", [False, True])
def test_a_prefix_of_some_ids_is_reported(change, prefix, has_qrels_prefix):
    numbers = {f"{number}": f"{100 + number}" for number in range(8)}
    plain = {query: {doc_id: 1, "7": 0} for query, doc_id in numbers.items()}
    some = {
        query: {change(doc_id): 1, "7": 0} if query < "5" else plain[query]
        for query, doc_id in numbers.items()
    }
    qrels, run = (some, plain) if has_qrels_prefix else (plain, some)
    [finding] = findings_of((qrels, run), "ids-nearly-match")
    for words in ("5 document ids", f"prefix {prefix}"):
        assert words in finding.fact
    corpus = {doc_id: "text" for ranking in run.values() for doc_id in ranking}
    [finding] = findings_of((qrels, {"corpus": corpus}), "ids-nearly-match")
    assert (finding.subject, finding.count) == ("corpus", 5)


@pytest.mark.parametrize(
    "pairs",
    [
        [("1", "doc1"), ("2", "doc2")],  # two pairs are chance
        [("1", "57-1"), ("2", "57-2"), ("3", "57-3")],  # passages of document 57
        [("10", "doc110"), ("20", "doc120"), ("30", "doc130")],  # the end of a number
        [("art", "start"), ("op", "stop"), ("and", "stand")],  # the end of a word
    ],
)
def test_ids_that_end_alike_may_be_different_documents(pairs):
    wanted, listed = zip(*pairs, strict=True)
    matches = IdMatcher(wanted).pairs(listed)
    assert list(check_spellings("document", "the run", matches)) == []


def test_all_lines_that_are_not_utf8_are_counted_and_the_other_checks_continue():
    lines = ["q1 0 caf\xe9 1", "q1 0 b 2", "q2 0 na\xefve 1", "q2 0 na\xefve 2"]
    content = "\n".join(lines).encode("latin-1")
    run = trec_run({"q1": {"caf\xe9": 2.0, "x": 1.0}}).encode("latin-1")
    validation = validate(file(content, "qrels"), file(run, "run.trec"))
    encodings = [finding for finding in validation.findings if finding.code == "mixed-encodings"]
    assert [finding.examples for finding in encodings] == [
        ("line 1", "line 3"),
        ("line 1",),
    ]
    [disagreement] = [f for f in validation.findings if f.code == "judgements-disagree"]
    assert disagreement.examples == ("'na\xefve' for query 'q2': 1 and 2",)
    assert "document-ids-do-not-match" not in {finding.code for finding in validation.findings}


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("\ufeffa", "'\\ufeffa', meant as 'a'"),
        ("caf\xc3\xa9", "'caf\xc3\xa9', meant as 'caf\xe9'"),
        ("caf\ufffd", "'caf\ufffd'"),
    ],
)
def test_ids_with_traces_of_another_encoding_are_shown_as_they_were_meant(text, example):
    [finding] = findings_of((QRELS, {**RUN, "q1": {text: 1.0}}), "mixed-encodings")
    assert finding.fact == "1 id with a byte order mark, or decoded wrongly"
    assert finding.examples == (example,)
    assert findings_of((QRELS, {**RUN, "q1": {"caf\xe9 \u5b57": 1.0}}), "mixed-encodings") == []


def test_every_disagreement_is_counted_and_the_first_grade_is_used():
    rows = ["q1 0 a 1", "q1 0 b 1", "q1 0 a 2", "q1 0 a 1", "q2 0 a 1", "q2 0 a 0", "q1 0 a 3"]
    path = file("\n".join(rows))
    with pytest.raises(FileFormatError, match="judged twice"):
        read_qrels(path)
    validation = validate(path)
    [disagreement] = [f for f in validation.findings if f.code == "judgements-disagree"]
    assert disagreement.count == 2
    assert disagreement.examples == (
        "'a' for query 'q1': 1 and 2 and 3",
        "'a' for query 'q2': 1 and 0",
    )
    [repeated] = [f for f in validation.findings if f.code == "judgements-repeated"]
    assert repeated.count == 1


@pytest.mark.parametrize("ids", [("a", "b"), (1, 2)])
def test_disagreements_in_a_dataframe_are_a_finding_too(ids):
    first, second = ids
    rows = [(first, 1), (second, 1), (first, 2), (second, 1)]
    frame = pl.DataFrame(
        {
            "query_id": ["q1"] * 4,
            "doc_id": [doc_id for doc_id, _ in rows],
            "grade": [grade for _, grade in rows],
        }
    )
    findings = {finding.code: finding for finding in validate(frame).findings}
    disagreement = findings["judgements-disagree"]
    assert disagreement.examples == (f"'{first}' for query 'q1': 1 and 2",)
    assert (disagreement.subject, disagreement.count, disagreement.total) == ("qrels", 1, 2)
    assert findings["judgements-repeated"].count == 1


def test_a_reason_to_warn_becomes_a_finding_and_no_warning(recwarn):
    validate(file("q1\ta\t1\nq1\tb\t2\nq1\tc\t3\n"), {"q1": {"a": 1.0}})
    validate({"q1": {"a": 0.5}}, {"q1": {"a": 1.0}})
    assert [warning for warning in recwarn if warning.category is BeirEvalWarning] == []


def test_a_file_with_the_best_document_last_is_not_taken_for_distances_if_its_ranks_agree():
    ranked = trec_run(scored(float), rank_of=lambda rank: 6 - rank)
    assert findings_of((QRELS, file(ranked)), "ranks-against-scores") == []
    assert findings_of((QRELS, file(ranked)), "ascending-scores") == []
    assert findings_of((QRELS, file(trec_run(scored(float)))), "ascending-scores")


def test_few_equal_ids_and_few_ascending_scores_are_chance():
    runs = {f"q{number}": {f"q{number}-a": 2.0, "x": 1.0} for number in range(40)}
    qrels = {query: {f"{query}-a": 1, "y": 0} for query in runs}
    for num_identical, is_reported in ((1, False), (2, True)):
        changed = {f"q{number}": {f"q{number}": 1.0} for number in range(num_identical)}
        findings = findings_of((qrels, {**runs, **changed}), "identical-ids")
        assert bool(findings) is is_reported
    for depth, is_reported in ((10, False), (11, True)):
        ascending = {"q1": {f"d{rank}": float(rank) for rank in range(depth)}}
        assert bool(findings_of((qrels, ascending), "ascending-scores")) is is_reported


@pytest.mark.parametrize(("num_rankings", "is_reported"), [(2, False), (3, True)])
def test_three_long_rankings_of_few_are_no_chance(num_rankings, is_reported):
    changed = QUERIES[:num_rankings]
    for code, scores in (("constant-scores", lambda _: 1.0), ("ascending-scores", float)):
        run = RUN | {query: scored(scores)[query] for query in changed}
        assert bool(findings_of((QRELS, run), code)) is is_reported


@pytest.mark.parametrize("num_rankings", [4, 8])
def test_constant_scores_are_tied_too(num_rankings):
    constant = {query: scored(lambda _: 1.0)[query] for query in QUERIES[:num_rankings]}
    [finding] = findings_of((QRELS, RUN | constant), "tied-scores")
    assert (finding.count, finding.total) == (5 * num_rankings, 40)
    assert finding.examples == ({4: "20 of them have 1", 8: "40 of them have 1"}[num_rankings],)


def test_ranks_that_are_no_ranking_are_not_compared_with_scores():
    for rank_of in (lambda _: 1, lambda _: "-", lambda rank: f"{rank}.0"):
        run = file(trec_run(scored(float), rank_of=rank_of))
        assert findings_of((QRELS, run), "ranks-against-scores") == []


@pytest.mark.parametrize(
    ("name", "is_noted"),
    [
        ("qrels.dl19-passage.txt", True),
        ("trec_dl_2020.tsv", True),
        ("2021.qrels.deep-learning-21", True),
        ("handle19.tsv", False),
        ("ours.tsv", False),
    ],
)
def test_few_judged_passages_are_those_of_deep_learning_if_the_name_says_so(name, is_noted):
    rows = [
        f"{query} 0 {doc} {grade}\n" for query in (1, 2) for doc, grade in enumerate((0, 1, 2, 3))
    ]
    codes = {finding.code for finding in validate(file("".join(rows), name)).findings}
    assert ("deep-learning-grades" in codes) is is_noted
    thresholds = {finding.code for finding in validate(name, measures=["MAP(rel=2)"]).findings}
    assert "deep-learning-grades" not in thresholds


def test_rankings_without_scores_have_no_finding_about_scores():
    run = Run.from_rankings({query: list(docs) for query, docs in RUN.items()})
    codes = {finding.code for finding in validate(QRELS, run).findings}
    assert codes <= {"deep-learning-grades"}


@pytest.mark.parametrize(
    "runs",
    [
        lambda: file(trec_run(), "run.trec"),
        lambda: [file(trec_run(), "run.trec")],
        lambda: {"run": Path(file(trec_run(), "run.trec"))},
        lambda: {"run": RUN},
        lambda: {"run": Run(RUN)},
        lambda: RUN,
        lambda: Run(RUN),
        lambda: file(gzip.compress(trec_run().encode()), "run.trec.gz"),
    ],
)
def test_runs_are_taken_as_paths_and_in_memory(runs):
    validation = validate(Qrels(QRELS), runs())
    assert [(s.name, s.documents) for s in validation.inputs if s.role == "run"] == [("run", 40)]


def test_a_data_set_is_taken_as_a_folder_and_in_memory():
    name = folder()
    for data_set in (name, load_dataset(name)):
        validation = validate(data_set, measures=MEASURES)
        assert [summary.role for summary in validation.inputs] == ["qrels", "queries", "corpus"]
        assert validation.findings == ()


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (["corpus"], "no corpus in this folder"),
        (["queries"], "no queries in this folder"),
        (["corpus", "queries"], "no corpus and no queries in this folder"),
    ],
)
def test_a_folder_is_checked_with_what_it_has_and_says_what_is_missing(missing, sentence):
    name = folder({**TEXTS, "q9": "a question"})
    for table in missing:
        Path(name, f"{table}.jsonl").unlink()
    validation = validate(name, measures=MEASURES)
    roles = [role for role in ("qrels", "queries", "corpus") if role not in missing]
    assert [summary.role for summary in validation.inputs] == roles
    sentences = {finding.code: finding.fact for finding in validation.findings}
    assert sentences.pop("incomplete-data-set") == sentence
    assert set(sentences) == ({"queries-without-judgements"} if "queries" in roles else set())


def test_queries_are_called_not_judged_only_where_all_splits_are_known():
    texts = {**TEXTS, "q8": "a question", "q9": "a question"}
    name = folder(texts, "q8\ta\t1\n")
    for queries in (texts, "set/queries.jsonl"):
        [finding] = findings_of((name, {"queries": queries}), "queries-without-judgements")
        assert (finding.count, finding.total, finding.examples) == (1, 10, ("'q9'",))
        options = {"queries": queries}
        assert findings_of(("set/qrels/test.tsv", options), "queries-without-judgements") == []
        assert findings_of((QRELS, options), "queries-without-judgements") == []


def test_judgements_in_several_files_are_checked_together():
    name = Path(folder())
    (name / "qrels" / "test.tsv").unlink()
    for part, grades in enumerate(([1, 2], [2, 2])):
        frame = pl.DataFrame(
            {"query-id": ["q1"] * 2, "corpus-id": ["q1-a", "q1-b"], "score": grades}
        )
        frame.write_parquet(name / "qrels" / f"test-0000{part}-of-00002.parquet")
    findings = {finding.code: finding for finding in validate(name).findings}
    assert findings["judgements-disagree"].examples == ("'q1-a' for query 'q1': 1 and 2",)
    assert findings["judgements-repeated"].count == 1


def test_what_cannot_be_read_is_an_error_that_names_the_input():
    with pytest.raises(FileFormatError, match=r"bad: .*binary"):
        validate(file(b"\0\1\2", "bad"))
    with pytest.raises(RunError, match=r"^bad: .*finite"):
        validate(QRELS, {"bad": {"q1": {"a": float("nan")}}})
    with pytest.raises(SettingError, match="not a folder"):
        validate(QRELS, split="test")
    Path("runs").mkdir()
    with pytest.raises(FileFormatError, match="runs: a folder, not a run file; read each file"):
        validate(QRELS, "runs")


def test_a_validation_is_saved_and_loaded_again():
    validation = validate({"q1": {"a": 1}}, RUN)
    validation.save("findings.json")
    assert Validation.load("findings.json") == validation


def test_the_summary_lists_a_finding_of_several_systems_once():
    runs = {f"system {number}": RUN for number in range(5)}
    first, _, finding, _ = str(validate(QRELS, runs, measures="nDCG@6")).splitlines()
    assert first == "5 notes (8 queries, 24 judgements; 5 runs)"
    assert finding.startswith("note     system 0, system 1, system 2 and 2 more: the longest ")


def test_errors_come_first_and_strict_counts_warnings():
    noted = validate(QRELS, RUN, measures="nDCG@6")
    assert not noted.has_errors(strict=True)
    warned = validate(QRELS, {"q1": RUN["q1"]})
    assert (warned.has_errors(), warned.has_errors(strict=True)) == (False, True)
    failed = validate(QRELS, scored(lambda _: 1.0))
    assert failed.has_errors()
    assert failed.findings[0].level == "error"


#: The findings on the real data, each of which is true (see the README of the folder).
REAL_NOTES = {"positives-only", "queries-not-judged", "shallow-rankings", "deep-learning-grades"}
POSITIVES_ONLY = {
    "arguana",
    "cqadupstack-android",
    "cqadupstack-gaming",
    "cqadupstack-gis",
    "fiqa",
    "nfcorpus",
    "webis-touche2020",
}


def codes_of(validation):
    """Return {(code, subject's name)} of all findings."""
    return {(finding.code, Path(finding.subject).stem) for finding in validation.findings}


def test_real_qrels_have_true_findings_only(realdata):
    files = sorted((realdata / "qrels").glob("*.trec"))
    codes = set().union(*(codes_of(validate(path)) for path in files))
    assert codes == {("positives-only", name) for name in POSITIVES_ONLY} | {
        ("deep-learning-grades", "dl19-passage")
    }


def test_real_data_sets_have_true_findings_only(realdata):
    assert codes_of(validate(realdata / "scifact", split="test")) == {("positives-only", "test")}
    # Queries 89 and 90 have one text; one judges a document more.
    assert codes_of(validate(realdata / "scifact", split="train")) == {
        ("positives-only", "train"),
        ("equal-texts-judged-differently", "queries"),
    }
    # These are the relevant passages of TREC-DL 2019, and seven queries more.
    assert codes_of(validate(realdata / "msmarco-mini")) == {
        ("positives-only", "test"),
        ("deep-learning-grades", "test"),
        ("queries-without-judgements", "queries"),
    }


@pytest.mark.parametrize(
    ("qrels", "runs", "expected"),
    [
        ("qrels/dl19-passage.trec", "dl19", {("tied-scores", "rep-llama_ties")}),
        ("qrels/trec-covid.trec", "trec-covid", set()),
        (
            "scifact",
            "scifact",
            {
                ("query-ids-do-not-match", "david_e5"),
                ("repeated-documents", "kl_hybrid"),
                ("rankings-of-other-queries", "kl_hybrid"),
                ("same-ranking", "kl_hybrid"),
                ("same-queries", "kl_hybrid"),
                *(("tied-scores", name) for name in ("david_e5", "deng_base", "deng_e5")),
                *(("judged-queries-missing", f"deng_{name}") for name in ("base", "e5", "sbert")),
            },
        ),
    ],
)
def test_real_runs_have_true_findings_only(realdata, qrels, runs, expected):
    files = sorted((realdata / "runs" / runs).iterdir())
    findings = codes_of(validate(realdata / qrels, files))
    assert {pair for pair in findings if pair[0] not in REAL_NOTES} == expected


def test_the_bundled_data_set_has_true_findings_only():
    validation = validate(demo.FOLDER, [os.fspath(run) for run in demo.RUNS], measures="nDCG@10")
    assert codes_of(validation) == {("tied-scores", "bm25"), ("tied-scores", "bm25-plain")}
