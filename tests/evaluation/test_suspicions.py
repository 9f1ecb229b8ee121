"""Mistakes that can be seen are a warning of the result, and right runs have none."""

import random
import warnings

import pytest

from beir_eval import BeirEvalWarning, Evaluator, compare_runs, evaluate, read_run
from beir_eval.evaluation import suspicions

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


def codes_of(qrels, run, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        result = evaluate(qrels, run, ["nDCG@10", "MAP"], **settings)
    return [suspicion.code for suspicion in result.counted.suspicions]


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
    "exchanged": (
        dict(zip(QUERIES, random.Random(1).sample([*RIGHT.values()], 40), strict=True)),
        "rankings-of-other-queries",
    ),
    "the same ranking": (dict.fromkeys(QUERIES, RIGHT[QUERIES[0]]), "same-ranking"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake):
    run, code = MISTAKES[mistake]
    assert code in codes_of(JUDGED, run)


@pytest.mark.parametrize("order", ["as ranked", "any order", "best last"])
@pytest.mark.parametrize("depth", [12, 20, 300])
def test_a_right_run_has_no_suspicion(order, depth):
    qrels, rankings = example(depth)
    run = scored(rankings)
    if order == "any order":
        run = {query: shuffled(docs) for query, docs in run.items()}
    if order == "best last":
        run = {query: dict(reversed(docs.items())) for query, docs in run.items()}
    assert codes_of(qrels, run) == []


def test_rankings_by_chance_have_no_suspicion():
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
    expected = [] if code is None else [code]
    assert codes_of(JUDGED, read_run(path)) == expected
    assert codes_of(JUDGED, read_run(path), order="given") == []


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
    assert [text for text in comparison.warnings() if text.startswith("b: scores are asc")]


def test_what_is_about_the_judgements_is_said_once():
    qrels = {query: dict.fromkeys(judged, 0) for query, judged in JUDGED.items()}
    with pytest.warns(BeirEvalWarning) as caught:
        comparison = compare_runs(qrels, {"a": RIGHT, "b": RIGHT}, ["nDCG@10"])
    sentences = [str(warning.message) for warning in caught]
    assert len(sentences) == 1
    assert sentences[0].startswith("no document is relevant")
    assert comparison.warnings() == sentences


def test_grades_of_the_deep_learning_tracks_need_a_level_in_binary_measures():
    qrels = {
        str(query): {str(1000 * query + doc): doc % 4 for doc in range(60)} for query in range(7)
    }
    run = {query: {doc: -float(doc) for doc in judged} for query, judged in qrels.items()}
    with pytest.warns(BeirEvalWarning, match="evaluate with rel=2"):
        Evaluator(qrels, ["MAP"]).evaluate(run)
    assert Evaluator(qrels, ["MAP(rel=2)", "nDCG"]).evaluate(run).warnings() == []


def test_results_over_disjoint_queries_keep_the_first_of_each_kind():
    run, halves = MISTAKES["constant"][0], []
    for queries in (QUERIES[:20], QUERIES[20:]):
        evaluator = Evaluator({query: JUDGED[query] for query in queries}, ["nDCG@10"])
        with pytest.warns(BeirEvalWarning, match="same score"):
            halves.append(evaluator.evaluate({query: run[query] for query in queries}))
    merged = halves[0].merge(halves[1])
    assert [suspicion.code for suspicion in merged.counted.suspicions] == ["constant-scores"]
    assert merged.counted.suspicions[0] == halves[0].counted.suspicions[0]


def test_every_remedy_belongs_to_a_code():
    assert set(suspicions.REMEDIES) == set(suspicions.SuspicionCode.__args__)
