"""Mistakes that can be seen are a warning of the result, and right runs have none."""

import itertools
import random
import tomllib
import unicodedata
import warnings
from pathlib import Path

import polars as pl
import pytest

from beir_eval import BeirEvalWarning, Evaluator, Run, compare_runs, evaluate, read_qrels, read_run
from beir_eval.datasets import demo
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.validation import validate

QUERIES = [f"q{number:02}" for number in range(40)]
_RANDOM = random.Random(3)
CORPUS = [str(number) for number in _RANDOM.sample(range(1000, 900_000), 4000)]


def example(depth=20):
    """Return qrels with three relevant documents a query, and rankings that find most of them."""
    generator = random.Random(5)
    qrels, rankings = {}, {}
    for query in QUERIES:
        *relevant, other = generator.sample(CORPUS, 4)
        retrieved = generator.sample(CORPUS, depth)
        for doc_id, rank in zip(
            relevant[:2], (generator.randrange(3), generator.randrange(3, 5)), strict=True
        ):
            retrieved[rank] = doc_id
        qrels[query] = dict.fromkeys(relevant, 1) | {other: 0}
        rankings[query] = list(dict.fromkeys(retrieved))
    return qrels, rankings


JUDGED, RANKINGS = example()


def scored(rankings, score_of=lambda rank: 30.5 - rank):
    return {
        query: {doc: score_of(rank) for rank, doc in enumerate(docs, start=1)}
        for query, docs in rankings.items()
    }


def findings_of(qrels, run, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        result = evaluate(qrels, run, ["nDCG@10", "MAP"], **settings)
    assert all(finding.level != "note" for finding in result.counted.findings)  # each is a warning
    return result.counted.findings


def codes_of(qrels, run, **settings):
    return [finding.code for finding in findings_of(qrels, run, **settings)]


def every(step, change, run):
    """Return the run with every ``step``-th ranking changed."""
    return {
        query: change(docs) if number % step == 0 else docs
        for number, (query, docs) in enumerate(run.items())
    }


def renamed(change, step=1):
    """Return a change of the ids of every ``step``-th document of a ranking."""
    return lambda docs: {
        change(doc) if number % step == 0 else doc: score
        for number, (doc, score) in enumerate(docs.items())
    }


def shuffled(docs):
    items = list(docs.items())
    random.Random(len(docs)).shuffle(items)
    return dict(items)


def decomposed(doc_id):
    return unicodedata.normalize("NFD", doc_id)


def spelled(name):
    """Return qrels and rankings with other ids."""
    qrels = {
        query: {name(doc): grade for doc, grade in docs.items()} for query, docs in JUDGED.items()
    }
    return qrels, scored({query: list(map(name, docs)) for query, docs in RANKINGS.items()})


def pool(grades, best_first):
    """Return qrels with 60 judged documents a query, and a run that finds the highest first."""
    qrels, run = {}, {}
    for query in QUERIES:
        docs = _RANDOM.sample(CORPUS, 60)
        qrels[query] = {doc: grades[number * len(grades) // 60] for number, doc in enumerate(docs)}
        run[query] = {
            doc: (-1 if best_first else 1) * (number + _RANDOM.gauss(0, 25))
            for number, doc in enumerate(docs)
        }
    return qrels, run


def with_unjudged(qrels, run, *, every):
    """Return qrels, and a run with one unjudged document before every so many of a run."""
    mixed = {}
    for query, scores in run.items():
        ranked = sorted(scores, key=scores.get, reverse=True)
        unjudged = [doc for doc in CORPUS if doc not in qrels[query]]
        for number in range(0, len(ranked), every - 1):
            ranked.insert(number + number // (every - 1), unjudged[number])
        mixed[query] = {doc: float(-number) for number, doc in enumerate(ranked)}
    return qrels, mixed


RIGHT = scored(RANKINGS)
MISTAKES = {
    "negated": (every(1, lambda docs: {d: -s for d, s in docs.items()}, RIGHT), "ascending-scores"),
    "negated in a third": (
        every(3, lambda docs: {d: -s for d, s in docs.items()}, RIGHT),
        "ascending-scores",
    ),
    "negated, in any order": (
        every(1, lambda docs: shuffled({d: -s for d, s in docs.items()}), RIGHT),
        "relevant-ranked-last",
    ),
    "ranks": (scored(RANKINGS, float), "ascending-scores"),
    "constant": (scored(RANKINGS, lambda _: 1.0), "constant-scores"),
    "constant in a third": (
        every(3, lambda docs: dict.fromkeys(docs, 1.0), RIGHT),
        "constant-scores",
    ),
    "judgements": (JUDGED, "judgements-as-run"),
    "judgements for a third": (
        {q: JUDGED[q] if n % 3 == 0 else docs for n, (q, docs) in enumerate(RIGHT.items())},
        "judgements-as-run",
    ),
    "a prefix on a third": (every(1, renamed("doc_{}".format, 3), RIGHT), "ids-nearly-match"),
    "a suffix on a third": (every(1, renamed("{}#0".format, 3), RIGHT), "ids-nearly-match"),
    "floats in a third": (every(1, renamed("{}.0".format, 3), RIGHT), "ids-nearly-match"),
    "quoted in a third": (every(1, renamed('"{}"'.format, 3), RIGHT), "ids-nearly-match"),
    "padded in a third": (every(1, renamed("00{}".format, 3), RIGHT), "ids-nearly-match"),
    "shifted": (
        dict(zip(QUERIES, [*RIGHT.values()][1:] + [*RIGHT.values()][:1], strict=True)),
        "rankings-of-other-queries",
    ),
    "shifted in the last third": (
        dict(
            zip(
                QUERIES,
                [*RIGHT.values()][:26] + [*RIGHT.values()][27:] + [RIGHT[QUERIES[26]]],
                strict=True,
            )
        ),
        "rankings-of-other-queries",
    ),
    "three of twelve shifted": (
        {
            query: RIGHT[QUERIES[number + 1 if 4 <= number < 7 else number]]
            for number, query in enumerate(QUERIES[:12])
        },
        "rankings-of-other-queries",
    ),
    "exchanged": (
        dict(zip(QUERIES, random.Random(1).sample([*RIGHT.values()], 40), strict=True)),
        "rankings-of-other-queries",
    ),
    "the same ranking": (dict.fromkeys(QUERIES, RIGHT[QUERIES[0]]), "same-ranking"),
    "the first ranking of each four": (
        {query: RIGHT[QUERIES[number - number % 4]] for number, query in enumerate(QUERIES)},
        "same-ranking",
    ),
    "ids 1 less": (every(1, renamed(lambda doc: str(int(doc) - 1)), RIGHT), "ids-nearly-match"),
    "ids 1 more": (every(1, renamed(lambda doc: str(int(doc) + 1)), RIGHT), "ids-nearly-match"),
    "separators of thousands": (
        every(1, renamed(lambda doc: f"{int(doc):,}", 3), RIGHT),
        "ids-nearly-match",
    ),
    "six digits of a third": (
        every(1, renamed(lambda doc: f"{float(doc):e}", 3), RIGHT),
        "rounded-ids",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake):
    run, code = MISTAKES[mistake]
    assert code in codes_of(JUDGED, run)


def few_of_another_query():
    """Return 20 queries; 5 documents of 10 rankings each are relevant for another query."""
    rankings = {
        query: [
            f"d{(number + rank) % 20}" if number < 10 and rank < 6 else f"{query}-{rank}"
            for rank in range(1, 11)
        ]
        for number, query in enumerate(QUERIES[:20])
    }
    rankings["q19"][0] = "d19"
    return {query: {f"d{int(query[1:])}": 1} for query in rankings}, scored(rankings)


#: Documents of the grades 1, 0 and 2, in this order.
POOL = {
    query: {f"{query}-{number}": (1, 0, 2)[number // 20] for number in range(60)}
    for query in QUERIES
}


#: What a mistake shows, by its name; and by its code, if ranks in a file show it.
TEXTS = tomllib.loads((Path(__file__).parent / "facts.toml").read_text())
FACTS, OF_RANKS = TEXTS["facts"], TEXTS["ranks"]
OTHERS = {
    "few of another query": few_of_another_query,
    "no grade is 0": lambda: with_unjudged(*pool((2, 1), best_first=True), every=10),
    "pairs of equal scores": lambda: (JUDGED, scored(RANKINGS, lambda rank: -(rank // 2))),
    "four grades": lambda: pool((4, 3, 2, 1), best_first=True),
    "best last": lambda: (POOL, scored(POOL)),
}


@pytest.mark.parametrize("mistake", FACTS)
def test_a_fact_has_the_numbers_of_the_mistake(mistake):
    qrels, run = OTHERS[mistake]() if mistake in OTHERS else (JUDGED, MISTAKES[mistake][0])
    assert FACTS[mistake] in [finding.fact for finding in findings_of(qrels, run)]


@pytest.mark.parametrize("num_wrong", [0, 1, 3, 20])
def test_rankings_without_a_judged_document_of_a_pool_are_named(num_wrong):
    """Their documents are those of another corpus; a query with few judgements may match none."""
    qrels, run = pool((2, 1, 0), best_first=True)
    wrong = [*run][5 : 5 + num_wrong]
    run |= {query: {f"x{rank}": -float(rank) for rank in range(60)} for query in wrong[:1]}
    run |= {query: {f"{query}.{rank}": -float(rank) for rank in range(60)} for query in wrong[1:]}
    names = ["rankings-without-judged"] if num_wrong else []
    assert codes_of(qrels, run) == names
    short = {
        query: dict(sorted(docs.items(), key=lambda item: -item[1])[:12])
        for query, docs in run.items()
    }
    assert codes_of(qrels, short) == (names if num_wrong >= len(qrels) / 10 else [])
    few = qrels | {query: dict(list(qrels[query].items())[:9]) for query in wrong}
    assert codes_of(few, run) == []
    relevant_only = {
        query: {doc: grade for doc, grade in grades.items() if grade}
        for query, grades in qrels.items()
    }
    assert codes_of(relevant_only, run) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("\u00e9{}".format, lambda doc: decomposed(f"\u00e9{doc}")),
        ("http://x.org/{}".format, "https://x.org/{}".format),
        ("http://x.org/{}".format, "http://x.org/{}/".format),
        ("a/{}".format, "a%2F{}".format),
        ("{:0>8}-1234-5678-9abc-def012345678".format, "{:0>8}123456789abcdef012345678".format),
    ],
)
def test_a_third_of_the_ids_in_another_spelling_is_named(right, wrong):
    qrels, run = spelled(right)
    assert codes_of(qrels, run) == []
    other = spelled(lambda doc: wrong(doc) if int(doc) % 3 == 0 else right(doc))[1]
    assert codes_of(qrels, other) == ["ids-nearly-match"]


def test_ids_that_went_through_floats_of_32_bits_are_named():
    qrels, run = spelled(lambda doc: str(20_000_001 + int(doc)))
    assert codes_of(qrels, run) == []
    other = spelled(lambda doc: str(20_000_001 + int(doc) & ~1))[1]
    assert codes_of(qrels, other) == ["rounded-ids"]
    assert "rounded-ids" in codes_of(spelled(lambda doc: f"{float(doc):e}")[0], run)


@pytest.mark.parametrize(
    ("grades", "best_first", "codes"),
    [
        ((2, 1, 0), True, []),
        ((2, 1, 0), False, ["inverted-grades"]),
        ((0, 1, 2), True, ["inverted-grades"]),
        ((1, 0), True, []),
        ((2, 1), True, ["grades-without-zero"]),
        ((3, 2, 1), True, ["grades-without-zero"]),
        ((4, 3, 2, 1), True, ["grades-without-zero"]),
    ],
)
def test_scales_of_deep_pools_begin_at_0_and_the_highest_grade_is_the_best(
    grades, best_first, codes
):
    assert codes_of(*pool(grades, best_first)) == codes


def test_of_two_or_three_grades_the_lowest_may_be_relevant_where_other_documents_are_found_too():
    qrels, run = pool((2, 1), best_first=True)
    assert codes_of(*with_unjudged(qrels, run, every=10)) == ["grades-without-zero"]
    assert codes_of(*with_unjudged(qrels, run, every=5)) == []


def test_grades_that_count_the_lines_are_named():
    numbers = itertools.count()
    qrels = {query: {doc: next(numbers) for doc in docs} for query, docs in JUDGED.items()}
    assert "numbered-grades" in codes_of(qrels, RIGHT)


def test_a_question_that_is_asked_again_and_again_is_named_and_one_in_other_words_is_not():
    """Four queries with the same relevant documents, as in collections of frequent questions."""
    first = {query: QUERIES[number - number % 4] for number, query in enumerate(QUERIES)}
    qrels = {query: JUDGED[first[query]] for query in QUERIES}
    run = {query: RIGHT[first[query]] for query in QUERIES}
    assert codes_of(qrels, run) == ["same-queries"]
    generator = random.Random(2)
    others = {
        query: {doc: score + generator.gauss(0, 3) for doc, score in docs.items()}
        for query, docs in run.items()
    }
    assert codes_of(qrels, others) == []


@pytest.mark.parametrize("run", demo.RUNS)
def test_rankings_that_do_not_fit_their_queries_are_named_where_topics_are_near_too(run):
    qrels, right = read_qrels(demo.FOLDER), read_run(run)
    ids, rankings = list(right.query_ids), list(right.as_dict().values())
    num_named = 0
    for seed in range(10):
        generator = random.Random(seed)
        exchanged = dict(zip(ids, generator.sample(rankings, len(ids)), strict=True))
        num_named += "rankings-of-other-queries" in codes_of(qrels, exchanged)
        in_no_order = {
            query: {doc: generator.random() for doc in docs}
            for query, docs in zip(ids, rankings, strict=True)
        }
        assert codes_of(qrels, in_no_order) == []
    assert num_named >= 7


@pytest.mark.parametrize("step", [1, -1])
def test_rankings_that_were_shifted_in_an_order_of_their_own_are_named(step):
    names = random.Random(3).sample([f"q{number:02}" for number in range(40)], 40)
    qrels = {name: {f"{name}-a": 1, f"{name}-b": 0} for name in sorted(names)}
    run = {
        name: {f"{name}-{letter}": 9.0 - rank for rank, letter in enumerate("abcdefghij")}
        for name in names
    }
    shifted = {
        name: run[names[(number + step) % 40] if number >= 30 else name]
        for number, name in enumerate(names)
    }
    assert evaluate(qrels, run, "MRR").counted.findings == ()
    with pytest.warns(BeirEvalWarning, match="other queries"):
        [finding] = evaluate(qrels, shifted, "MRR").counted.findings
    # The last query has none after it.
    which = "9 of 40 rankings looked at fit the query after theirs, and not their own"
    if step == -1:
        which = "10 of 40 rankings looked at fit the query before theirs, and not their own"
    assert which in finding.fact


def test_a_conversation_may_begin_with_the_answer_before():
    turns = [f"{number // 8}_{number % 8 + 1}" for number in range(40)]
    lists = list(RANKINGS.values())
    for turn in range(1, 40, 2):
        lists[turn] = list(dict.fromkeys([*lists[turn - 1][:9], *reversed(lists[turn])]))
    judged = list(JUDGED.values())
    for names, expected in (
        (turns, []),
        (QUERIES, ["rankings-of-other-queries"]),
    ):
        run = scored(dict(zip(names, lists, strict=True)))
        assert codes_of(dict(zip(names, judged, strict=True)), run) == expected


@pytest.mark.parametrize("order", ["as ranked", "any order", "best last"])
@pytest.mark.parametrize("depth", [12, 20, 300])
def test_a_right_run_has_no_finding(order, depth):
    qrels, rankings = example(depth)
    run = scored(rankings)
    if order == "any order":
        run = {query: shuffled(docs) for query, docs in run.items()}
    if order == "best last":
        run = {query: dict(reversed(docs.items())) for query, docs in run.items()}
    assert codes_of(qrels, run) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_first_look_misses_no_mistake_that_a_sample_shows(name):
    run, *_ = MISTAKES[name]
    sampled = Run(run)
    sampled.is_slow_to_read = True
    assert codes_of(JUDGED, run) == codes_of(JUDGED, sampled)


def test_rankings_by_chance_have_no_finding():
    for seed in range(20):
        generator = random.Random(seed)
        corpus = CORPUS[: generator.choice([60, 200, 4000])]
        qrels = {query: dict.fromkeys(generator.sample(corpus, 3), 1) for query in QUERIES}
        run = scored({query: generator.sample(corpus, 15) for query in QUERIES})
        assert codes_of(qrels, run) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (lambda q, d, n: f"{q} Q0 {d} {n} {-n} t\n", None),
        (lambda q, d, n: f"{q} Q0 {d} {n} {n} t\n", "ascending-scores"),
        (lambda q, d, n: f"{q} Q0 {d} {n} {n / 7} t\n", "ascending-scores"),
        (lambda q, d, n: f"{q} Q0 {d} {100 - n} {n} t\n", "swapped-ranks-and-scores"),
        (lambda q, d, n: f"{q} Q0 {d} {100 - n / 2} {n} t\n", "swapped-ranks-and-scores"),
        (lambda q, d, n: f"{q} Q0 {d} {n} {n * 7 % 23} t\n", "ranks-against-scores"),
        (lambda q, d, n: f"{q} Q0 {d} 1 {-n} t\n", None),
        (lambda q, d, n: f"{q} Q0 {d} - {-n} t\n", None),
    ],
)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_ranks_of_a_file_are_compared_with_its_scores(tmp_path, line, code, is_reversed):
    """The order of the lines matters only where ranks and scores are swapped."""
    lines = [
        line(query, doc, number)
        for query, docs in RANKINGS.items()
        for number, doc in enumerate(docs, start=1)
    ]
    if is_reversed and code == "swapped-ranks-and-scores":
        return
    path = tmp_path / "run.trec"
    path.write_text("".join(reversed(lines) if is_reversed else lines))
    findings = findings_of(JUDGED, read_run(path))
    assert [finding.code for finding in findings] == [code] * (code is not None)
    for finding in findings:
        assert finding.fact == OF_RANKS[code]
    assert codes_of(JUDGED, read_run(path), order="given") == []


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("score", "code"), [(lambda n: -n, None), (lambda n: n * 7 % 23, "ranks-against-scores")]
)
def test_the_ranks_of_a_table_are_compared_with_its_scores(tmp_path, kind, score, code):
    """As where a re-ranker gives ranks beside the scores of the retriever."""
    rows = [
        {"query_id": query, "doc_id": doc, "rank": number, "score": float(score(number))}
        for query, docs in RANKINGS.items()
        for number, doc in enumerate(docs, start=1)
    ]
    path, frame = tmp_path / f"run.{kind}", pl.DataFrame(rows)
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[kind](
        path
    )
    expected = [] if code is None else [code]
    assert codes_of(JUDGED, read_run(path)) == expected
    codes = {finding.code for finding in validate(JUDGED, path).findings}
    assert codes.intersection({"ranks-against-scores"}) == set(expected)


def test_of_a_run_without_scores_relevant_documents_that_come_last_are_named(tmp_path):
    """As of whole scores in ascending order, which three columns show as ranks."""
    path = tmp_path / "run.tsv"
    for step, expected in ((1, []), (-1, ["relevant-ranked-last"])):
        lines = [
            f"{query}\t{doc}\t{number}\n"
            for query, docs in RANKINGS.items()
            for number, doc in enumerate(docs[::step], start=1)
        ]
        path.write_text("".join(lines))
        assert codes_of(JUDGED, read_run(path)) == expected


def test_a_warning_is_given_by_every_way_and_stands_in_every_output():
    run = MISTAKES["negated"][0]
    sentence = "run: scores are ascending from the first document to the last in 40 of 40 rankings"
    with pytest.warns(BeirEvalWarning, match=sentence):
        result = evaluate(JUDGED, run, ["nDCG@10"])
    assert "Negate distances" in result.warnings()[0]
    for text in (str(result), result.to_markdown(), result.model_dump_json()):
        assert "scores are ascending" in text
    with pytest.warns(BeirEvalWarning, match="b: scores are ascending"):
        comparison = compare_runs(JUDGED, {"a": RIGHT, "b": run}, ["nDCG@10"])
    assert [
        text for text in comparison.warnings() if text.startswith("check first: b: scores are asc")
    ]


def test_grades_that_are_mostly_below_0_are_a_warning():
    qrels = {q: {d: -1 + 2 * (d == next(iter(docs))) for d in docs} for q, docs in JUDGED.items()}
    assert codes_of(qrels, RIGHT) == ["negative-grades"]


def test_what_is_about_the_judgements_is_said_once():
    qrels = {query: dict.fromkeys(judged, 0) for query, judged in JUDGED.items()}
    with pytest.warns(BeirEvalWarning) as caught:
        comparison = compare_runs(qrels, {"a": RIGHT, "b": RIGHT}, ["nDCG@10"])
    sentences = [str(warning.message) for warning in caught]
    assert len(sentences) == 1
    assert sentences[0].startswith("check first: no document is relevant")
    assert comparison.warnings() == sentences


def test_grades_of_the_deep_learning_tracks_need_a_level_in_binary_measures():
    qrels = {
        str(query): {str(1000 * query + doc): doc % 4 for doc in range(60)} for query in range(7)
    }
    run = {query: {doc: -float(doc) for doc in judged} for query, judged in qrels.items()}
    with pytest.warns(BeirEvalWarning, match="Deep Learning counts 2 and 3. Count from"):
        Evaluator(qrels, ["MAP"]).evaluate(run)
    assert Evaluator(qrels, ["MAP(rel=2)", "nDCG"]).evaluate(run).warnings() == []
    with pytest.warns(BeirEvalWarning, match="Deep Learning"):
        result = Evaluator(qrels, ["nDCG", "MAP"]).evaluate(run)
    assert warnings_on(result, "run", measures=["MAP"])
    assert warnings_on(result, "run", measures=["nDCG"]) == []


def test_empty_rankings_are_no_sign_of_a_mistake():
    assert codes_of(JUDGED, every(3, lambda _: {}, RIGHT)) == []


def test_other_queries_of_the_run_are_ignored_in_a_note_or_counted_with_the_missing_ones():
    run = RIGHT | {"q90": RIGHT["q01"]}
    assert "1 unjudged query was ignored" in evaluate(JUDGED, run, ["MAP"]).to_markdown()
    del run["q00"]
    text = evaluate(JUDGED, run, ["MAP"]).to_markdown()
    assert "1 unjudged query was ignored" in text
    few = {query: RIGHT[query] for query in list(RIGHT)[:3]} | {"q90": RIGHT["q01"]}
    text = evaluate(JUDGED, few, ["MAP"]).to_markdown()
    assert "1 query of the run is not judged: do run and qrels have the same query ids?" in text
    assert "ignored" not in text
