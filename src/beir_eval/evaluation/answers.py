"""Predicted answers against gold answers: as rankings, and by what one answer a question says.

``evaluate_answers`` makes qrels of gold answers and a run of predicted answers, so every measure
applies to them. ``answer_scores`` says how well an answer says what the gold answers say.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from beir_eval.core.files import as_path
from beir_eval.core.ids import checked_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.datasets.corpus import read_records, record_id
from beir_eval.errors import (
    FileFormatError,
    InputError,
    SettingError,
    check_choice,
    first_few,
    shown,
)
from beir_eval.evaluation.evaluator import evaluate
from beir_eval.inspection.unmatched_ids import GOLD_PREFIX, PREDICTION_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: (prediction, gold answer) -> whether the prediction matches the gold answer.
Match: TypeAlias = Callable[[str, str], bool]

#: The values of ``match`` that are not a function.
MATCHES = ("exact", "normalized", "contains", "f1")
#: The values of ``gold_lists``.
GOLD_LISTS = ("answers", "aliases")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class GoldAnswer(NamedTuple):
    """One gold answer: the texts (aliases) that express it, and its grade."""

    aliases: tuple[str, ...]
    grade: float


def normalize_answer(text: str) -> str:
    """Return an answer in lower case, without punctuation, articles and extra blanks.

    ASCII punctuation and the words "a", "an" and "the" are removed, and every run of blanks
    becomes one space.

    Args:
        text: the answer.

    Returns:
        The words that remain, separated by one space; "" if none remain.

    Source: Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP
    2016, and its evaluation script.

    >>> normalize_answer("The  Eiffel Tower!")
    'eiffel tower'
    """
    without_articles = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return " ".join(without_articles.split())


def token_f1(prediction: str, gold: str) -> float:
    """Return the F1 score over the words of two answers, from 0 to 1.

    Formula: 2PR / (P + R). P is the share of the prediction's words that are in the gold answer, R
    is the share of the gold answer's words that are in the prediction. Both answers are normalised
    by ``normalize_answer`` first, and repeated words count as often as they occur. The score is 0
    if the answers share no word.

    Args:
        prediction: the predicted answer.
        gold: the gold answer.

    Source: Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP
    2016, and its evaluation script.

    >>> token_f1("New York City", "new york")
    0.8
    """
    words, gold_words = normalize_answer(prediction).split(), normalize_answer(gold).split()
    num_shared = sum((Counter(words) & Counter(gold_words)).values())
    return 2 * num_shared / (len(words) + len(gold_words)) if num_shared else 0.0


def answers_to_relevance(
    predictions: Any,
    gold: Any,
    *,
    match: str | Match = "normalized",
    threshold: float = 0.5,
    gold_lists: str = "answers",
) -> tuple[Qrels, Run]:
    """Return the gold answers as qrels and the predictions as a run.

    Each gold answer is a document of the qrels. A prediction that matches a gold answer is that
    document in the run; a prediction that matches none is an unjudged document. A gold answer is
    credited once: later predictions that match only credited answers repeat a document, so evaluate
    the run with ``duplicates="keep"``, which leaves repeats at their ranks and gives them no gain.
    If a prediction matches several gold answers, it is credited with the one of highest grade that
    is not credited yet.

    Args:
        predictions: {question_id: [answer, …]}, the answers best first; or a list of such lists,
            whose questions are numbered from 0.
        gold: the gold answers of the same questions: {question_id: gold answers}, or a list of the
            length of ``predictions``. The gold answers of a question are one of

            - a text: one answer;
            - a set of aliases: one answer that can be expressed in several ways;
            - a list of answers, each a text or a set, list or tuple of aliases (see
              ``gold_lists``);
            - a mapping {answer: grade}, each answer a text or a tuple or frozenset of aliases. In
              the other forms the grade is 1.
        match: how a prediction is compared with an alias of a gold answer:

            - "exact": both are the same text;
            - "normalized": both are the same after ``normalize_answer``;
            - "contains": the words of the normalised gold answer follow each other in the
              normalised prediction;
            - "f1": ``token_f1`` is at least ``threshold``;
            - a function (prediction, gold) -> bool.
        threshold: the smallest F1 score that is a match, above 0 and at most 1. Only ``match="f1"``
            uses it.
        gold_lists: the meaning of a list of gold answers: several "answers", or the "aliases" of
            one answer.

    Returns:
        The qrels, and the run without scores: the order of the predictions is the ranking.

    Raises:
        InputError: ``predictions`` or ``gold`` has another shape, they are not about the same
            questions, there is no question, a gold answer is empty, or a grade is not a finite
            number.
        SettingError: ``match``, ``threshold`` or ``gold_lists`` has another value.

    >>> qrels, run = answers_to_relevance([["Elon Musk", "Tony", "Stark"]], ["Stark"])
    >>> evaluate(qrels, run, ["Success@2", "Success@3"], duplicates="keep").as_dict()
    {'Success@2': 0.0, 'Success@3': 1.0}
    """
    matches = _match_function(match, threshold)
    check_choice("gold_lists", gold_lists, GOLD_LISTS)
    predictions_of = answers_by_question("predictions", predictions)
    gold_of = answers_by_question("gold", gold)
    if set(predictions_of) != set(gold_of):
        unshared = sorted(set(gold_of) ^ set(predictions_of))
        msg = (
            f"predictions and gold must be about the same questions, but only one of them has "
            f"{first_few(unshared)}"
        )
        raise InputError(msg)
    if not gold_of:
        msg = "there is no question in predictions and gold"
        raise InputError(msg)
    grades: dict[str, dict[str, float]] = {}
    rankings: dict[str, list[str]] = {}
    for question, answers in gold_of.items():
        gold_answers = _gold_answers(question, answers, gold_lists)
        grades[question] = {
            f"{GOLD_PREFIX}{index}": answer.grade for index, answer in enumerate(gold_answers)
        }
        rankings[question] = _ranking(
            _prediction_texts(question, predictions_of[question]), gold_answers, matches
        )
    return Qrels(grades), Run.from_rankings(rankings)


def evaluate_answers(  # noqa: PLR0913 - one keyword a setting
    predictions: Any,
    gold: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    match: str | Match = "normalized",
    threshold: float = 0.5,
    gold_lists: str = "answers",
    name: str = "run",
) -> EvaluationResult:
    """Return every score of predicted answers against gold answers.

    Predictions that match a gold answer are relevant, the others are unjudged. A gold answer counts
    once: a later prediction that matches only answers already matched gains nothing and keeps its
    rank. If a prediction matches several gold answers, the one of highest grade that is not matched
    yet counts.

    Args:
        predictions: {question_id: [answer, …]}, the answers best first; or a list of such lists,
            whose questions are numbered from 0.
        gold: the gold answers of the same questions: {question_id: gold answers}, or a list of the
            length of ``predictions``. The gold answers of a question are one of

            - a text: one answer;
            - a set of aliases: one answer that can be expressed in several ways;
            - a list of answers, each a text or a set, list or tuple of aliases (see
              ``gold_lists``);
            - a mapping {answer: grade}, each answer a text or a tuple or frozenset of aliases. In
              the other forms the grade is 1.
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        match: how a prediction is compared with an alias of a gold answer:

            - "exact": both are the same text;
            - "normalized": both are the same after ``normalize_answer``;
            - "contains": the words of the normalised gold answer follow each other in the
              normalised prediction;
            - "f1": ``token_f1`` is at least ``threshold``;
            - a function (prediction, gold) -> bool.
        threshold: the smallest F1 score that is a match, above 0 and at most 1. Only ``match="f1"``
            uses it.
        gold_lists: the meaning of a list of gold answers: several "answers", or the "aliases" of
            one answer.
        name: the name of the system that made the predictions, for tables and reports.

    Returns:
        A result whose queries are the questions.

    Raises:
        InputError: ``predictions`` or ``gold`` has another shape, they are not about the same
            questions, there is no question, a gold answer is empty, or a grade is not a finite
            number.
        SettingError: ``match``, ``threshold`` or ``gold_lists`` has another value, or the name is
            not text.
        MeasureError: a measure does not exist (UnknownMeasureError), or its parameter or cutoff is
            impossible.

    >>> result = evaluate_answers([["Elon Musk", "Tony", "Stark"]], ["Stark"], ["MRR", "MAP"])
    >>> result["MRR"] == result["MAP"] == 1 / 3
    True
    """
    qrels, run = answers_to_relevance(
        predictions, gold, match=match, threshold=threshold, gold_lists=gold_lists
    )
    return evaluate(qrels, run, measures, duplicates="keep", name=name)


def _match_function(match: str | Match, threshold: float) -> Match:
    """Return the function that compares a prediction with a gold answer.

    Raises:
        SettingError: ``match`` or ``threshold`` has another value.
    """
    if callable(match):
        return match
    check_choice("match", match, MATCHES)
    if isinstance(threshold, bool) or not is_finite_number(threshold) or not 0 < threshold <= 1:
        msg = f"threshold must be above 0 and at most 1, not {threshold!r}"
        raise SettingError(msg)
    functions: dict[str, Match] = {
        "exact": lambda prediction, gold: prediction == gold,
        "normalized": _is_same_answer,
        "contains": has_words_of,
        "f1": lambda prediction, gold: token_f1(prediction, gold) >= threshold,
    }
    return functions[match]


def _is_same_answer(prediction: str, gold: str) -> bool:
    """Return whether the normalised answers are equal.

    If normalisation leaves no word of either ("The"), the answers themselves are compared.
    """
    text, gold_text = normalize_answer(prediction), normalize_answer(gold)
    return text == gold_text if text or gold_text else prediction.split() == gold.split()


def has_words_of(prediction: str, gold: str) -> bool:
    """Return whether the normalised prediction has the words of the gold answer, in a row."""
    words, gold_words = normalize_answer(prediction).split(), normalize_answer(gold).split()
    positions = range(len(words) - len(gold_words) + 1)
    return bool(gold_words) and any(
        words[start : start + len(gold_words)] == gold_words for start in positions
    )


def answers_by_question(
    name: str, values: Any, query_ids: Iterable[Any] | None = None
) -> dict[str, Any]:
    """Return {question_id: value} for values in a mapping or a list.

    Args:
        name: the name of the argument that holds the values, for messages.
        values: {question_id: value}, or a list with a value for each question.
        query_ids: the ids of the questions of a list; by default they are numbered from 0. Not used
            for a mapping.

    Raises:
        InputError: the values are neither a list nor a mapping, an id is not text or an integer, an
            id occurs twice, or the numbers of ids and values differ.
    """
    if isinstance(values, str) or not isinstance(values, (Mapping, Sequence)):
        msg = (
            f"{name} must be a list with an entry for each question, or {{question_id: …}}, not "
            f"{type(values).__name__}"
        )
        raise InputError(msg)
    if isinstance(values, Mapping):
        questions = checked_ids(values, name, InputError)
        if len(set(questions)) < len(values):
            msg = f"{name}: an integer and a text id name the same question; keep one of the two"
            raise InputError(msg)
        return dict(zip(questions, values.values(), strict=True))
    ids = range(len(values)) if query_ids is None else query_ids
    questions = checked_ids(ids, name, InputError)
    if len(questions) != len(values) or len(set(questions)) < len(questions):
        msg = (
            f"{name} has {len(values)} entries, for {len(questions)} query_ids of which "
            f"{len(set(questions))} are distinct; one entry for each question was expected"
        )
        raise InputError(msg)
    return dict(zip(questions, values, strict=True))


def _prediction_texts(question: str, answers: Any) -> list[str]:
    """Return the predictions of one question, or raise InputError unless they are texts."""
    is_list = isinstance(answers, Sequence) and not isinstance(answers, str)
    if not is_list or not all(isinstance(answer, str) for answer in answers):
        msg = f"the predictions for question {question!r} must be a list of texts, not {answers!r}"
        raise InputError(msg)
    return list(answers)


def _gold_answers(question: str, answers: Any, gold_lists: str) -> list[GoldAnswer]:
    """Return the gold answers of one question, given in any of the forms of ``gold``."""
    if isinstance(answers, (str, AbstractSet)):
        return [_gold_answer(question, answers, 1.0)]
    if isinstance(answers, Mapping) and answers:
        return [_gold_answer(question, answer, grade) for answer, grade in answers.items()]
    if not isinstance(answers, Sequence) or not answers:
        msg = (
            f"the gold answers of question {question!r} must be a text, a set of aliases, a list "
            f"of answers or {{answer: grade}}, and not empty, but they are {answers!r}"
        )
        raise InputError(msg)
    if gold_lists == "aliases":
        return [_gold_answer(question, list(answers), 1.0)]
    return [_gold_answer(question, answer, 1.0) for answer in answers]


def _gold_answer(question: str, answer: Any, grade: Any) -> GoldAnswer:
    """Return one gold answer, a text or a collection of aliases; raise InputError for others."""
    aliases = [answer] if isinstance(answer, str) else answer
    is_collection = isinstance(aliases, (list, tuple, AbstractSet)) and len(aliases) > 0
    if not is_collection or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
        msg = (
            f"a gold answer of question {question!r} is {answer!r}; it must be a text that says it"
        )
        raise InputError(msg)
    if isinstance(grade, bool) or not is_finite_number(grade):
        msg = f"the grade of {answer!r} for question {question!r} is {grade!r}, not a number"
        raise InputError(msg)
    return GoldAnswer(tuple(sorted(aliases)), float(grade))


def _ranking(predictions: Sequence[str], gold: Sequence[GoldAnswer], matches: Match) -> list[str]:
    """Return a document id for each prediction: of the gold answer it is credited with, or new."""
    best_first = sorted(range(len(gold)), key=lambda index: -gold[index].grade)
    credited: set[int] = set()
    ranking = []
    for rank, prediction in enumerate(predictions):
        matched = [
            index
            for index in best_first
            if any(matches(prediction, alias) for alias in gold[index].aliases)
        ]
        if matched:
            credited_index = next((index for index in matched if index not in credited), matched[0])
            credited.add(credited_index)
            ranking.append(f"{GOLD_PREFIX}{credited_index}")
        else:
            ranking.append(f"{PREDICTION_PREFIX}{rank}")
    return ranking


def _exact_match(prediction: str, gold: str) -> float:
    return float(normalize_answer(prediction) == normalize_answer(gold))


def _f1(prediction: str, gold: str) -> float:
    """Return the token F1; 1 if both have no word, as SQuAD 2.0 scores "no answer"."""
    if not normalize_answer(prediction) and not normalize_answer(gold):
        return 1.0
    return token_f1(prediction, gold)


def _contains(prediction: str, gold: str) -> float:
    return float(has_words_of(prediction, gold))


#: {measure: its score for (prediction, gold answer)}.
_SCORES: dict[str, Callable[[str, str], float]] = {
    "EM": _exact_match,
    "token F1": _f1,
    "contains": _contains,
}
#: The measures of ``answer_scores``; all are from 0 to 1, and higher is better.
ANSWER_MEASURES = tuple(_SCORES)


def answer_scores(
    predictions: Mapping[str, str | Sequence[str]],
    gold: Mapping[str, str | Iterable[str]],
    measures: Iterable[str] = ANSWER_MEASURES,
) -> dict[str, dict[str, float]]:
    """Return the scores of one answer a question, by measure and question.

    - "EM" (exact match): 1 if the answer and a gold answer are the same after ``normalize_answer``.
    - "token F1": the highest ``token_f1`` over the gold answers; 1 if neither has a word, as SQuAD
      2.0 scores a question without an answer. Its mean is SQuAD's F1.
    - "contains": 1 if the words of a gold answer follow each other in the answer.

    Each is the highest over the gold answers of a question. A question with gold answers and
    without an answer scores as the empty answer. ``EvaluationResult.from_scores`` makes a result of
    the scores, and ``EvaluationResult.beside`` puts it beside the measures of the documents.

    Args:
        predictions: {query_id: answer}; of a list the first one counts.
        gold: {query_id: gold answer, or several, each a right answer}. Questions without gold
            answers have no score.
        measures: names of ``ANSWER_MEASURES``.

    Returns:
        {measure: {query_id: score}}, over the questions of ``gold``.

    Raises:
        InputError: no question has a gold answer, or no prediction is for one of these questions.
        SettingError: a measure is none of these.

    Source: Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP
    2016; Know what you don't know: unanswerable questions for SQuAD, ACL 2018.

    >>> answer_scores({"q1": "The Eiffel Tower in Paris"}, {"q1": ["Eiffel Tower", "the tower"]})
    {'EM': {'q1': 0.0}, 'token F1': {'q1': 0.6666666666666666}, 'contains': {'q1': 1.0}}
    """
    names = list(measures)
    for name in names:
        check_choice("measures", name, ANSWER_MEASURES)
    right = {query_id: _texts_of(answers) for query_id, answers in gold.items()}
    right = {query_id: texts for query_id, texts in right.items() if texts}
    if not right:
        raise InputError("there are no gold answers: {query_id: answer, or a list of answers}")
    if not set(right) & set(predictions):
        msg = (
            f"no question has both a gold answer and a prediction: the gold answers are for "
            f"{first_few(right)}, the predictions for {first_few(predictions)}"
        )
        raise InputError(msg)
    answers = {query_id: _first(predictions.get(query_id, "")) for query_id in right}
    return {
        name: {
            query_id: max(_SCORES[name](answers[query_id], text) for text in texts)
            for query_id, texts in right.items()
        }
        for name in names
    }


def _texts_of(answers: Any) -> list[str]:
    """Return gold answers as a list of texts."""
    is_list = isinstance(answers, (Sequence, AbstractSet)) and not isinstance(answers, str)
    return list(answers) if is_list else [answers]


def _first(answers: str | Sequence[str]) -> str:
    if isinstance(answers, str):
        return answers
    return next(iter(answers), "")


def read_gold_answers(path: str | Path) -> dict[str, list[str]]:
    """Return {query_id: gold answers} of a JSON Lines file.

    Each line has the id of a query ("_id") and its answers, as "answers" or, as in the
    ``queries.jsonl`` of a data set, as "answers" of its "metadata": a text, or a list of texts.
    Lines without answers are left out.

    Args:
        path: the file, perhaps compressed by gzip.

    Raises:
        FileFormatError: a line is no such object, or a query is listed twice.
        OSError: the file cannot be read.
    """
    source = as_path(path)
    gold: dict[str, list[str]] = {}
    for _, number, record in read_records(source):
        query_id, metadata = record_id(source, number, record), record.get("metadata")
        of_metadata = metadata.get("answers") if isinstance(metadata, dict) else None
        answers = record.get("answers", of_metadata)
        if answers is None:
            continue
        texts = [answers] if isinstance(answers, str) else answers
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            problem = f"the answers of {shown(query_id)} are {shown(answers)}; texts were expected"
            raise FileFormatError(source, problem, line=number)
        if query_id in gold:
            problem = f"the query {shown(query_id)} is listed twice"
            raise FileFormatError(source, problem, line=number)
        gold[query_id] = texts
    return gold
