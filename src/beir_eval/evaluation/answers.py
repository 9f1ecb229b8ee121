"""How well the generated answer to a question says what its gold answers say."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from beir_eval.core.files import as_path
from beir_eval.datasets.corpus import read_records, record_id
from beir_eval.errors import FileFormatError, InputError, check_choice, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


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


def _exact_match(prediction: str, gold: str) -> float:
    return float(normalize_answer(prediction) == normalize_answer(gold))


def _f1(prediction: str, gold: str) -> float:
    """Return the token F1; 1 if both have no word, as SQuAD 2.0 scores "no answer"."""
    if not normalize_answer(prediction) and not normalize_answer(gold):
        return 1.0
    return token_f1(prediction, gold)


def _contains(prediction: str, gold: str) -> float:
    """Return 1 if the normalised prediction has the words of the gold answer, in a row."""
    words, gold_words = (f" {normalize_answer(text)} " for text in (prediction, gold))
    return float(gold_words in words and not gold_words.isspace())


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
