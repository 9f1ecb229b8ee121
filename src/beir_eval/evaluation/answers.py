"""Predicted answers against gold answers, as a run and qrels that every measure takes."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from beir_eval.core.ids import checked_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.core.run_sources.scores import is_finite_number
from beir_eval.errors import InputError, SettingError, check_choice, some
from beir_eval.evaluation.evaluator import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: Whether a prediction says a gold answer.
Match: TypeAlias = Callable[[str, str], bool]

MATCHES = ("exact", "normalized", "contains", "f1")
GOLD_LISTS = ("answers", "aliases")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class GoldAnswer(NamedTuple):
    """One relevant thing: the texts that all say it, and how relevant it is."""

    aliases: tuple[str, ...]
    grade: float


def normalize_answer(text: str) -> str:
    """Return an answer without what does not matter: case, punctuation, articles, blanks.

    Source: Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP
    2016, and its evaluation script.

    >>> normalize_answer("The  Eiffel Tower!")
    'eiffel tower'
    """
    bare = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return " ".join(bare.split())


def token_f1(prediction: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over the words of two normalised answers.

    Formula: 2PR / (P + R), with P and R the shares of the prediction's and the gold answer's words
    that the other has too, each word counted as often as it stands. 0 where either is empty.

    Source: as ``normalize_answer``.

    >>> token_f1("New York City", "new york")
    0.8
    """
    said, wanted = normalize_answer(prediction).split(), normalize_answer(gold).split()
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def answers_to_relevance(
    predictions: Any,
    gold: Any,
    *,
    match: str | Match = "normalized",
    threshold: float = 0.5,
    gold_lists: str = "answers",
) -> tuple[Qrels, Run]:
    """Return the gold answers as qrels and the predictions as a run.

    A prediction that says a gold answer stands for it in the ranking. Each gold answer is credited
    once: a second prediction of it is a duplicate, which ``evaluate(..., duplicates="keep")`` lets
    take up a rank and gain nothing. Where a prediction says several, the best one not credited yet
    counts.

    Args:
        predictions: {question_id: [answer, …]}, best first; or a list of such lists.
        gold: for every question (same keys, or same length), one of: a text; a set of aliases
            (one relevant thing, R = 1); a list of answers, each a text or a set of aliases; a
            mapping {answer: grade}.
        match: "exact" (the same text), "normalized" (the same after ``normalize_answer``),
            "contains" (the gold answer's words stand in the prediction, one after the other), "f1"
            (``token_f1`` is at least ``threshold``), or a function (prediction, gold) -> bool.
        threshold: for "f1".
        gold_lists: whether a list of texts holds several "answers" or the "aliases" of one.

    Raises:
        InputError: another shape, questions that do not belong together, an empty gold answer, no
            question.
        SettingError: a value that does not exist.

    >>> qrels, run = answers_to_relevance([["Elon Musk", "Tony", "Stark"]], ["Stark"])
    >>> evaluate(qrels, run, ["Success@2", "Success@3"], duplicates="keep").as_dict()
    {'Success@2': 0.0, 'Success@3': 1.0}
    """
    says = _matcher(match, threshold)
    check_choice("gold_lists", gold_lists, GOLD_LISTS)
    predicted, wanted = by_question("predictions", predictions), by_question("gold", gold)
    if set(predicted) != set(wanted):
        lacking = sorted(set(wanted) ^ set(predicted))
        msg = (
            f"predictions and gold must be about the same questions, but only one of them has "
            f"{some(lacking)}"
        )
        raise InputError(msg)
    if not wanted:
        msg = "there is no question in predictions and gold"
        raise InputError(msg)
    judged: dict[str, dict[str, float]] = {}
    rankings: dict[str, list[str]] = {}
    for question, answers in wanted.items():
        listed = _gold_answers(question, answers, gold_lists)
        judged[question] = {f"gold {place}": one.grade for place, one in enumerate(listed)}
        rankings[question] = _ranking(_texts(question, predicted[question]), listed, says)
    return Qrels(judged), Run.from_rankings(rankings)


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
    """Evaluate predicted answers; the arguments are those of ``answers_to_relevance``.

    Raises:
        BeirEvalError: as there, and as ``evaluate``.

    >>> result = evaluate_answers([["Elon Musk", "Tony", "Stark"]], ["Stark"], ["MRR", "MAP"])
    >>> result["MRR"] == result["MAP"] == 1 / 3
    True
    """
    qrels, run = answers_to_relevance(
        predictions, gold, match=match, threshold=threshold, gold_lists=gold_lists
    )
    return evaluate(qrels, run, measures, duplicates="keep", name=name)


def _matcher(match: str | Match, threshold: float) -> Match:
    if callable(match):
        return match
    check_choice("match", match, MATCHES)
    if isinstance(threshold, bool) or not is_finite_number(threshold) or not 0 < threshold <= 1:
        msg = f"threshold must be above 0 and at most 1, not {threshold!r}"
        raise SettingError(msg)
    matchers: dict[str, Match] = {
        "exact": lambda prediction, gold: prediction == gold,
        "normalized": _same,
        "contains": _contains,
        "f1": lambda prediction, gold: token_f1(prediction, gold) >= threshold,
    }
    return matchers[match]


def _same(prediction: str, gold: str) -> bool:
    """Compare normalised answers; those of which nothing is left ("The") as they are."""
    said, wanted = normalize_answer(prediction), normalize_answer(gold)
    return said == wanted if said or wanted else prediction.split() == gold.split()


def _contains(prediction: str, gold: str) -> bool:
    said, wanted = normalize_answer(prediction).split(), normalize_answer(gold).split()
    starts = range(len(said) - len(wanted) + 1)
    return bool(wanted) and any(said[at : at + len(wanted)] == wanted for at in starts)


def by_question(what: str, given: Any, query_ids: Iterable[Any] | None = None) -> dict[str, Any]:
    """Return {question_id: value}; a list's questions are ``query_ids``, or numbered from 0.

    Raises:
        InputError: neither a list nor {question_id: value}, something that is not an id, an id
            given twice, another number of ids than of values.
    """
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        msg = (
            f"{what} must be a list with an entry for each question, or {{question_id: …}}, not "
            f"{type(given).__name__}"
        )
        raise InputError(msg)
    if isinstance(given, Mapping):
        questions = checked_ids(given, what, InputError)
        if len(set(questions)) < len(given):
            msg = f"{what}: an integer and a text id name the same question; keep one of the two"
            raise InputError(msg)
        return dict(zip(questions, given.values(), strict=True))
    ids = range(len(given)) if query_ids is None else query_ids
    questions = checked_ids(ids, what, InputError)
    if len(questions) != len(given) or len(set(questions)) < len(questions):
        msg = (
            f"{what} has {len(given)} entries, for {len(questions)} query_ids of which "
            f"{len(set(questions))} are distinct; one entry for each question was expected"
        )
        raise InputError(msg)
    return dict(zip(questions, given, strict=True))


def _texts(question: str, answers: Any) -> list[str]:
    is_list = isinstance(answers, Sequence) and not isinstance(answers, str)
    if not is_list or not all(isinstance(answer, str) for answer in answers):
        msg = f"the predictions for question {question!r} must be a list of texts, not {answers!r}"
        raise InputError(msg)
    return list(answers)


def _gold_answers(question: str, answers: Any, gold_lists: str) -> list[GoldAnswer]:
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
    aliases = [answer] if isinstance(answer, str) else answer
    is_set = isinstance(aliases, (list, tuple, AbstractSet)) and len(aliases) > 0
    if not is_set or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
        msg = (
            f"a gold answer of question {question!r} is {answer!r}; it must be a text that says it"
        )
        raise InputError(msg)
    if isinstance(grade, bool) or not is_finite_number(grade):
        msg = f"the grade of {answer!r} for question {question!r} is {grade!r}, not a number"
        raise InputError(msg)
    return GoldAnswer(tuple(sorted(aliases)), float(grade))


def _ranking(predictions: Sequence[str], gold: Sequence[GoldAnswer], says: Match) -> list[str]:
    """Return the gold answer that each prediction stands for, or a name of its own."""
    best_first = sorted(range(len(gold)), key=lambda place: -gold[place].grade)
    credited: set[int] = set()
    ranking = []
    for rank, prediction in enumerate(predictions):
        said = [
            place
            for place in best_first
            if any(says(prediction, alias) for alias in gold[place].aliases)
        ]
        if said:
            chosen = next((place for place in said if place not in credited), said[0])
            credited.add(chosen)
            ranking.append(f"gold {chosen}")
        else:
            ranking.append(f"prediction {rank}")
    return ranking
