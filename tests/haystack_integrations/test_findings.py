"""What the component tells its user about wrong inputs: in the log, as a warning, in the result."""

import logging
import warnings

import pytest
from haystack import Document

from beir_eval.errors import BeirEvalWarning
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
from pipeline_parts import pipeline_of

KINDS = (
    *("acer", "betula", "carex", "daphne", "erica", "fagus"),
    *("galium", "hedera", "iris", "juncus", "kerria", "linum"),
)
GROUNDS = ("sand", "clay", "peat", "chalk")
#: Four contents for each of twelve queries.
PLANTS = [[f"{kind} grows best in {ground} that is dry" for ground in GROUNDS] for kind in KINDS]
TRUTH = [plants[:1] for plants in PLANTS]
#: The relevant document, then documents of the query five further on.
RANKED = [[plants[0], *PLANTS[(row + 5) % len(PLANTS)][1:]] for row, plants in enumerate(PLANTS)]


def documents(lists, **fields):
    """Documents with these contents; a field is a function of the row and the index."""
    return [
        [
            Document(content=text, **{name: value(row, index) for name, value in fields.items()})
            for index, text in enumerate(contents)
        ]
        for row, contents in enumerate(lists)
    ]


IN_META = {"meta": lambda row, index: {"file": f"{row}-{index}", "source": "wiki"}}
PARTS = "documents are matched by their whole contents, and for"
TEN = list(enumerate(PLANTS[:10]))
#: {what is wrong: (settings, truth, retrieved documents, words of the one warning)}
WRONG = {
    "truth of the next query": (
        {},
        documents(TRUTH[1:] + TRUTH[:1]),
        documents(RANKED),
        "rankings seem to belong to other queries: 12 of 12 rankings",
    ),
    "a key that all documents share": (
        {"document_comparison_field": "meta.source"},
        documents(TRUTH, **IN_META),
        documents(RANKED, **IN_META),
        "the 48 retrieved documents and the ground truth have only 1 value of meta.source, so that",
    ),
    "a key with a value of each kind": (
        {"document_comparison_field": "meta.kind"},
        documents(TRUTH, meta=lambda row, _: {"kind": KINDS[row % 5]}),
        documents(
            [[f"{text} {number}" for text in contents for number in "12"] for contents in RANKED],
            meta=lambda row, index: {"kind": KINDS[(row + index) % 5]},
        ),
        "and the ground truth have only 5 values of meta.kind, so that documents which differ",
    ),
    "ground truth of the first query for all": (
        {},
        documents(TRUTH[:1] * len(TRUTH)),
        documents(RANKED),
        "all 12 queries have the same ground-truth documents",
    ),
    "a list of ground truth that is not emptied": (
        {},
        documents([[plants[0] for plants in PLANTS[: row + 1]] for row in range(len(PLANTS))]),
        documents(RANKED),
        "the ground truth of each of 12 queries holds that of the query before",
    ),
    "chunks of the judged contents": (
        {},
        documents([[f"{plants[0]}. {plants[1]}. {plants[2]}"] for plants in PLANTS]),
        documents(RANKED),
        f"{PARTS} 10 of 10 queries looked at a retrieved document is a part of a ground-truth doc",
    ),
    "chunks of half of the judged contents": (
        {},
        documents([[". ".join(plants) if row % 2 else f"other {row}"] for row, plants in TEN]),
        documents(RANKED[:10]),
        f"{PARTS} 5 of 10 queries looked at a retrieved document is a part of a ground-truth doc",
    ),
    "judged parts of the retrieved contents": (
        {},
        documents(TRUTH),
        documents([[f"{text}. More of it" for text in contents] for contents in RANKED]),
        f"{PARTS} 10 of 10 queries looked at a retrieved document is a part of a ground-truth doc",
    ),
    "nothing is retrieved": (
        {},
        documents(TRUTH),
        [[] for _ in PLANTS],
        "no document was retrieved for any judged query (is the document store empty?",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_input_is_said_once_in_each_of_the_three_places(what, caplog):
    settings, truth, retrieved, words = WRONG[what]
    pipeline = pipeline_of(evaluator=BEIREvaluator(["MRR"], **settings))
    with (
        caplog.at_level(logging.WARNING),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        request = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
        outputs = pipeline.run({"evaluator": request})["evaluator"]
    [sentence] = outputs["result"].warnings()
    assert words in sentence
    ours = [record.getMessage() for record in caplog.records if "beir_eval" in record.name]
    assert ours == [sentence]
    warned = [warning for warning in caught if issubclass(warning.category, BeirEvalWarning)]
    assert [str(warning.message) for warning in warned] == [sentence]
    assert warned[0].filename == __file__  # the line that runs the pipeline


@pytest.mark.parametrize("field", ["content", "id"])
def test_right_inputs_are_said_nothing_about(field, logged):
    truth, retrieved = documents(TRUTH), documents(RANKED)
    outputs = BEIREvaluator(["MRR"], document_comparison_field=field).run(truth, retrieved)
    assert (outputs["score"], logged) == (1.0, [])


def test_what_the_compatible_preset_leaves_out_is_a_warning_of_the_result_too(logged):
    graded = [[Document(content="a", score=-1.0)]]
    evaluator = BEIREvaluator.haystack_compatible(primary="MRR")
    result = evaluator.run(graded, documents([["a"]]))["result"]
    [sentence] = result.warnings()
    assert logged == [sentence]
    assert sentence.startswith("nDCG is left out: ")


def test_a_key_that_no_document_has_is_named_and_no_placeholder_is(logged):
    evaluator = BEIREvaluator(["MRR"], document_comparison_field="meta.page")
    evaluator.run(documents([plants[:2] for plants in PLANTS]), documents(RANKED))
    assert [text.partition(":")[0] for text in logged] == [
        "24 of 24 ground-truth documents have no meta.page",
        "48 of 48 retrieved documents have no meta.page",
    ]
    assert not any("\0" in text or "x00" in text or "unnamed" in text for text in logged)


def test_placeholders_of_some_documents_are_no_examples_of_ids(logged):
    with_page = documents(
        RANKED, meta=lambda row, index: {"page": f"{row}.{index}"} if index else {}
    )
    judged = documents(TRUTH, meta=lambda row, _: {"page": f"other {row}"})
    evaluator = BEIREvaluator(["MRR"], document_comparison_field="meta.page")
    evaluator.run(judged, with_page)
    assert any("do not match" in text for text in logged)
    assert not any("\0" in text or "x00" in text or "unnamed" in text for text in logged)


def test_contents_are_not_searched_for_other_spellings(logged):
    truth = documents([[text.upper() for text in contents] for contents in TRUTH])
    result = BEIREvaluator(["MRR"]).run(truth, documents(RANKED))["result"]
    [sentence] = logged
    assert "document ids do not match" in sentence
    assert "case" not in sentence
    [finding] = result.counted.findings
    assert "Likely reason: documents are identified by content here" in finding.remedy
