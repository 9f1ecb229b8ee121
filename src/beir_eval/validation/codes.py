"""The table of findings: the code, the level, the meaning and the remedy of each.

``docs/validate.md`` has a row for each code with the same texts; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from beir_eval.adapters.formats.text_qrels import BY_ITERATION_REMEDY
from beir_eval.evaluation.suspicions.suspicion import REMEDIES

if TYPE_CHECKING:
    from collections.abc import Mapping

#: "error": scores are wrong or meaningless, or cannot be computed; "warning": likely a mistake;
#: "note": a property of the data that readers of the scores should know.
Level: TypeAlias = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCode:
    """A kind of finding.

    Attributes:
        code: its name, words in lower case joined by hyphens.
        level: "error", "warning" or "note".
        meaning: what was found.
        consequence: why it matters for the scores.
        remedy: what to do.
    """

    code: str
    level: Level
    meaning: str
    consequence: str
    remedy: str


_CODES = (
    # Judgements
    FindingCode(
        code="judgements-disagree",
        level="error",
        meaning="a document is judged twice for a query, with different grades",
        consequence=(
            "The score depends on which of the two a tool keeps. `evaluate` refuses such a file."
        ),
        remedy="Keep one judgement of each document and query.",
    ),
    FindingCode(
        code="judgements-by-subtopic",
        level="error",
        meaning=(
            "documents are judged more than once for a query, and the second column of TREC qrels "
            "tells the judgements apart"
        ),
        consequence="`evaluate` refuses such a file: a document has one grade for a query.",
        remedy=f"{BY_ITERATION_REMEDY}.",
    ),
    FindingCode(
        code="judgements-repeated",
        level="note",
        meaning="a judgement is listed again, with the same grade",
        consequence="Each judgement counts once, so scores are right. Files may have been joined.",
        remedy="Remove the repeated lines if they are not meant.",
    ),
    FindingCode(
        code="header-read-as-data",
        level="error",
        meaning="the names of columns are listed as a query and its document",
        consequence="In qrels, the header counts as a query and enters every mean.",
        remedy="Skip the header when the file is read, or read it with read_qrels or read_run.",
    ),
    FindingCode(
        code="mixed-encodings",
        level="error",
        meaning="lines that are not UTF-8, or ids with traces of another encoding",
        consequence=(
            "An id that was decoded differently in two files matches nothing. `evaluate` refuses "
            "a file with lines that are not UTF-8; here they are read as Latin-1."
        ),
        remedy="Convert the files to UTF-8, without byte order marks inside.",
    ),
    FindingCode(
        code="swapped-files",
        level="error",
        meaning="the qrels look like a run, and the run looks like qrels",
        consequence="The scores of such a call mean nothing.",
        remedy=f"{REMEDIES['swapped-files']}.",
    ),
    FindingCode(
        code="grades-look-like-ranks",
        level="warning",
        meaning="the grades of every query are 1, 2, … in the order of the lines",
        consequence=(
            "In a run of MS MARCO these are ranks, and the last document would be the best."
        ),
        remedy="If this is a run (query, document, rank), read it with read_run.",
    ),
    FindingCode(
        code="unusual-grades",
        level="warning",
        meaning="grades that are fractions, or above 10",
        consequence=(
            "Grades are usually 0 to 4. Every grade above 0 counts as relevant unless a measure "
            "sets `rel`, and a single high grade dominates nDCG."
        ),
        remedy=(
            "Check that the column holds grades. Of fractions, state the lowest relevant one, as "
            "in Precision(rel=0.5)@10."
        ),
    ),
    FindingCode(
        code="negative-grades",
        level="note",
        meaning="grades below 0",
        consequence="They mean 'pooled but unjudged', as in trec_eval.",
        remedy=f"{REMEDIES['negative-grades']}.",
    ),
    FindingCode(
        code="positives-only",
        level="note",
        meaning="no document is judged and not relevant (grade 0)",
        consequence=(
            "Unjudged and not relevant are the same here, so bpref, infAP, Judged and Hole say "
            "little."
        ),
        remedy=(
            "Nothing, for measures such as nDCG, MAP, Recall and MRR. If the scale begins at 1, "
            "subtract 1 from all grades."
        ),
    ),
    FindingCode(
        code="no-relevant-documents",
        level="error",
        meaning="no document is relevant for any query (no grade above 0)",
        consequence="Every mean is 0, or the lowest value of its measure, for every system.",
        remedy=f"{REMEDIES['no-relevant-documents']}.",
    ),
    FindingCode(
        code="queries-without-relevant",
        level="note",
        meaning="judged queries without a relevant document (no grade above 0)",
        consequence="They score 0 in most measures, for every system, and count in the means.",
        remedy="Leave them out with no_relevant='skip' if the means should not count them.",
    ),
    FindingCode(
        code="queries-without-judgements",
        level="note",
        meaning="queries of the data set that no split judges, or that judge no document",
        consequence="They are not evaluated.",
        remedy="Nothing, unless judgements were lost.",
    ),
    FindingCode(
        code="level-above-grades",
        level="warning",
        meaning="a measure whose rel is above every grade",
        consequence="Nothing is relevant in it, so every score is 0.",
        remedy=f"{REMEDIES['level-above-grades']}.",
    ),
    FindingCode(
        code="deep-learning-grades",
        level="warning",
        meaning="passages with grades 0 to 3, as in the TREC Deep Learning tracks",
        consequence=(
            "The tracks count a passage as relevant from grade 2 in MAP, Recall, Precision and "
            "MRR; here it counts from grade 1. nDCG is not affected."
        ),
        remedy=f"{REMEDIES['deep-learning-grades']}.",
    ),
    FindingCode(
        code="grades-without-zero",
        level="warning",
        meaning=(
            "50 judgements a query or more, none of grade 0, and four grades or more, or nearly "
            "all first documents judged"
        ),
        consequence="All of them count as relevant in MAP, Recall, Precision and MRR.",
        remedy=f"{REMEDIES['grades-without-zero']}.",
    ),
    FindingCode(
        code="numbered-grades",
        level="error",
        meaning="most grades are 1 more than the one before, as numbers of lines are",
        consequence="The order of the file decides about the scores.",
        remedy=f"{REMEDIES['numbered-grades']}.",
    ),
    # Runs
    FindingCode(
        code="query-ids-do-not-match",
        level="error",
        meaning="no query id of the qrels occurs in the other file",
        consequence="Nothing can be evaluated.",
        remedy="Use the same query ids in both, and the same data set and split.",
    ),
    FindingCode(
        code="document-ids-do-not-match",
        level="error",
        meaning="no document id of the qrels, or hardly any, occurs in the other file",
        consequence="Scores are 0 or close to it, whatever the system retrieved.",
        remedy="Use the same document ids in both.",
    ),
    FindingCode(
        code="ids-nearly-match",
        level="warning",
        meaning=(
            "ids that differ in white space, case, zeros, encoding, a prefix or the part of a "
            "chunk only, or by 1"
        ),
        consequence="These queries or documents count as missing or unjudged.",
        remedy=f"{REMEDIES['ids-nearly-match']}.",
    ),
    FindingCode(
        code="rounded-ids",
        level="error",
        meaning="document ids that look like numbers which lost digits as floats",
        consequence="Different documents may have the same id, and ids may not match.",
        remedy=f"{REMEDIES['rounded-ids']}.",
    ),
    FindingCode(
        code="judged-queries-missing",
        level="warning",
        meaning="judged queries without a document in the run",
        consequence="They score 0 with missing='zero' and are left out with missing='skip'.",
        remedy="Complete the run, or evaluate the split that it was made for.",
    ),
    FindingCode(
        code="queries-not-judged",
        level="note",
        meaning="queries of the run that are not judged",
        consequence="They are not evaluated.",
        remedy="Nothing, if the run is for more queries than the qrels.",
    ),
    FindingCode(
        code="repeated-documents",
        level="error",
        meaning="a document is listed more than once in a ranking",
        consequence="`evaluate` refuses the run unless `duplicates` says which copy counts.",
        remedy="Remove the copies, or choose duplicates='first' or 'keep'.",
    ),
    FindingCode(
        code="identical-ids",
        level="warning",
        meaning="rankings that contain the document with the id of their query",
        consequence="BEIR's `evaluate` drops such documents; the one of this package keeps them.",
        remedy="Set drop_identical_ids=True if a query is itself a document of the corpus.",
    ),
    FindingCode(
        code="ascending-scores",
        level="warning",
        meaning="the scores of most rankings ascend from the first document to the last",
        consequence="Higher scores are better, so the last document is ranked first.",
        remedy=f"{REMEDIES['ascending-scores']}.",
    ),
    FindingCode(
        code="constant-scores",
        level="error",
        meaning="all documents of most rankings have the same score",
        consequence="The order of the document ids decides about the ranks.",
        remedy=f"{REMEDIES['constant-scores']}.",
    ),
    FindingCode(
        code="swapped-ranks-and-scores",
        level="error",
        meaning="the scores of most rankings are 1, 2, …, and their ranks descend",
        consequence="The last document is ranked first.",
        remedy=f"{REMEDIES['swapped-ranks-and-scores']}.",
    ),
    FindingCode(
        code="relevant-ranked-last",
        level="warning",
        meaning="relevant documents tend to be the last of their rankings",
        consequence="Higher scores and lower ranks are better: they may be the other way round.",
        remedy=f"{REMEDIES['relevant-ranked-last']}.",
    ),
    FindingCode(
        code="inverted-grades",
        level="warning",
        meaning="documents of the highest grade tend to be ranked behind those of the lowest",
        consequence="Higher grades are better, so the scale may be the other way round.",
        remedy=f"{REMEDIES['inverted-grades']}.",
    ),
    FindingCode(
        code="judgements-as-run",
        level="error",
        meaning="rankings consist of judged documents only, with their grades as scores",
        consequence="Such a run is perfect.",
        remedy=f"{REMEDIES['judgements-as-run']}.",
    ),
    FindingCode(
        code="rankings-of-other-queries",
        level="error",
        meaning="rankings contain the relevant documents of other queries than theirs",
        consequence="They score 0 or close to it, whatever the system retrieved.",
        remedy=f"{REMEDIES['rankings-of-other-queries']}.",
    ),
    FindingCode(
        code="rankings-without-judged",
        level="warning",
        meaning="some rankings hold no judged document of a pool, and the others several",
        consequence="They score 0, as if nothing relevant was found.",
        remedy=f"{REMEDIES['rankings-without-judged']}.",
    ),
    FindingCode(
        code="same-ranking",
        level="warning",
        meaning="many rankings begin with the same documents in the same order",
        consequence="The system may search for the same text each time.",
        remedy=f"{REMEDIES['same-ranking']}.",
    ),
    FindingCode(
        code="same-queries",
        level="warning",
        meaning="many queries have the first documents and the judgements of another query",
        consequence="Each counts, so that a p-value is too small.",
        remedy=f"{REMEDIES['same-queries']}.",
    ),
    FindingCode(
        code="tied-scores",
        level="warning",
        meaning="at least 10% of the documents have the score of another one in their ranking",
        consequence="Tools break ties differently, so their scores may differ.",
        remedy=f"{REMEDIES['tied-scores']}.",
    ),
    FindingCode(
        code="ranks-against-scores",
        level="warning",
        meaning="rankings in TREC's or MS MARCO's format whose ranks and scores disagree",
        consequence="Scores decide, as in trec_eval; the ranks are ignored.",
        remedy=f"{REMEDIES['ranks-against-scores']}.",
    ),
    FindingCode(
        code="shallow-rankings",
        level="note",
        meaning="no ranking is as deep as the largest cutoff of the measures",
        consequence="Measures at deeper cutoffs count the documents that are there.",
        remedy="Retrieve more documents, or report the cutoffs that the run reaches.",
    ),
    # Corpus and queries
    FindingCode(
        code="incomplete-data-set",
        level="note",
        meaning="a data-set folder without corpus or queries",
        consequence="The judgements are not compared with what is missing.",
        remedy="Add corpus.jsonl and queries.jsonl to the folder, or pass corpus= and queries=.",
    ),
    FindingCode(
        code="repeated-queries",
        level="error",
        meaning="a query is listed twice, with different texts",
        consequence=(
            "The ranking depends on which text is asked. `load_dataset` refuses such a file."
        ),
        remedy="Keep one text of each query.",
    ),
    FindingCode(
        code="queries-without-words",
        level="warning",
        meaning="judged queries whose text has no letter and no digit",
        consequence="A retriever has nothing to search for, so they score 0 or by chance.",
        remedy="Write their texts, or remove the judgements of these queries.",
    ),
    FindingCode(
        code="equal-texts-judged-differently",
        level="warning",
        meaning="judged queries with the same text and different judgements",
        consequence="A system ranks alike for both, so that neither can be right for each.",
        remedy="Keep one of them, with all its judgements, or add what tells them apart.",
    ),
    FindingCode(
        code="repeated-corpus-documents",
        level="error",
        meaning="a document is listed twice in the corpus",
        consequence=(
            "A retriever has it twice, or one of its texts is lost. `index` refuses such a corpus."
        ),
        remedy="Keep one text of each document.",
    ),
    FindingCode(
        code="judged-documents-not-in-corpus",
        level="warning",
        meaning="judged documents that the corpus does not have",
        consequence=(
            "No system can retrieve them. If they are relevant, the highest reachable recall is "
            "below 1."
        ),
        remedy="Use the corpus that was judged, or remove these judgements.",
    ),
    FindingCode(
        code="judged-queries-without-text",
        level="warning",
        meaning="judged queries that the file of queries does not have",
        consequence="No system can answer them, so they score 0.",
        remedy="Add the texts, or remove the judgements of these queries.",
    ),
    FindingCode(
        code="query-text-in-corpus",
        level="warning",
        meaning="a document has the same text as a query",
        consequence="Most retrievers rank it first, whether or not it answers the query.",
        remedy="Remove these documents from the corpus, or set drop_identical_ids=True if their "
        "ids are those of the queries.",
    ),
)

#: {code: its row}, in the order of the documentation.
FINDING_CODES: Mapping[str, FindingCode] = {row.code: row for row in _CODES}
