"""The component ``BEIRAnswerEvaluator``: evaluates predicted answers by gold answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import ExtractedAnswer, GeneratedAnswer, component, default_from_dict, default_to_dict

from beir_eval.errors import InputError, check_choice, shown
from beir_eval.evaluation.answers import GOLD_LISTS, MATCHES, answers_by_question, evaluate_answers
from beir_eval.measures import MAP, MRR, Measure, Success, nDCG, parse, parse_all

from .outputs import OUTPUT_TYPES, component_outputs, make_run_async

#: Success is Top-N accuracy: whether one of the first N answers is right.
DEFAULT_ANSWER_MEASURES = (
    *(Success @ cutoff for cutoff in (1, 3, 5, 10)),
    MRR @ 10,
    MAP @ 10,
    nDCG @ 10,
)


@component
class BEIRAnswerEvaluator:
    """Evaluates ranked answers: Top-N accuracy, MRR, MAP, nDCG.

    A gold answer counts once, for the best-ranked answer that matches it. A question without
    predicted answers scores 0.

    For example::

        from haystack_integrations.components.evaluators.beir_eval import BEIRAnswerEvaluator

        evaluator = BEIRAnswerEvaluator(["Success@1", "MRR"])
        outputs = evaluator.run(
            ground_truth_answers=["Stark"], predicted_answers=[["Elon Musk", "the Starks", "Stark"]]
        )
        assert outputs["metrics"] == {"Success@1": 0.0, "MRR": 1 / 3}
    """

    def __init__(
        self,
        measures: Sequence[str | Measure] | str | Measure | None = None,
        *,
        primary: str | None = None,
        match: str = "normalized",
        threshold: float = 0.5,
        gold_lists: str = "answers",
    ) -> None:
        """Set the measures, and when an answer matches a gold answer.

        Args:
            measures: names in any spelling, or ``Measure`` values; by default Success (Top-N
                accuracy) at 1, 3, 5 and 10, and MRR, MAP and nDCG at 10.
            primary: the measure of ``score`` and ``individual_scores``, by default the first;
                computed in any case, also if ``measures`` does not name it.
            match: when an answer matches a gold answer: "exact" (the same text), "normalized" (the
                same without case, punctuation, articles and extra blanks), "contains" (the answer
                contains the words of the gold answer in a row), or "f1" (the token F1 is at least
                ``threshold``).
            threshold: the lowest token F1 of a match, above 0 and at most 1; used for "f1" only.
            gold_lists: whether a list of gold texts holds several "answers", or the "aliases" of
                one answer.

        Raises:
            MeasureError: a measure or a cutoff does not exist.
            SettingError: ``match`` or ``gold_lists`` has no such value.
        """
        check_choice("match", match, MATCHES)
        check_choice("gold_lists", gold_lists, GOLD_LISTS)
        chosen: tuple[Measure, ...] = (
            DEFAULT_ANSWER_MEASURES if measures is None else parse_all(measures)
        )
        first = parse(chosen[0] if primary is None else primary)
        self.measures = tuple(dict.fromkeys([*chosen, first]))
        self.primary, self.match = first, match
        self.threshold, self.gold_lists = threshold, gold_lists

    @classmethod
    def haystack_compatible(cls) -> "BEIRAnswerEvaluator":
        """Return the component with the numbers of Haystack's AnswerExactMatchEvaluator.

        Its ``score`` is the share of questions whose answer is the gold answer, letter for letter.
        """
        return cls(["Success@1"], match="exact")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as Haystack's serialisation of the component."""
        return default_to_dict(
            self,
            measures=list(map(str, self.measures)),
            primary=str(self.primary),
            match=self.match,
            threshold=self.threshold,
            gold_lists=self.gold_lists,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "BEIRAnswerEvaluator":
        """Return the component with the settings in ``data``, as ``to_dict`` returns them."""
        evaluator: BEIRAnswerEvaluator = default_from_dict(cls, data)
        return evaluator

    @component.output_types(**OUTPUT_TYPES)
    def run(
        self,
        ground_truth_answers: list[str | list[str] | dict[str, float]] | dict[str, Any],
        predicted_answers: list[list[GeneratedAnswer | ExtractedAnswer | str]] | dict[str, Any],
        query_ids: list[str] | None = None,
    ) -> dict[str, Any]:
        """Evaluate predicted answers.

        The arguments are in the order of Haystack's answer evaluators.

        Args:
            ground_truth_answers: for each question a text, a list of texts (see ``gold_lists``)
                or {answer: grade} [Q]; or {question_id: …} with such values.
            predicted_answers: for each question a list of answers, best first: texts, or Haystack's
                answers [Q]; or {question_id: …} with such values. A list of texts or answers, one
                for each question, is accepted too, as AnswerExactMatchEvaluator takes it.
            query_ids: the ids of the questions, if the answers are lists [Q]; by default numbers
                from 0.

        Returns:
            ``score`` and ``individual_scores`` (mean and scores of the primary measure, in the
            order of the questions); ``metrics``, {measure: mean}; ``results``, {measure: {"score",
            "individual_scores"}} as EvaluationRunResult takes them; ``result``, the
            EvaluationResult with all of these and the counts.

        Raises:
            InputError: lists have different lengths, predicted and gold answers are not of the same
                questions, there is no question, or an object is not an answer. An answer without
                text ("no answer") is allowed and matches no gold answer.
            SettingError: ``threshold`` is not above 0 and at most 1, whatever ``match`` is.
        """
        nested = _one_list_a_question(predicted_answers, len(ground_truth_answers))
        predicted = answers_by_question("predicted_answers", nested, query_ids)
        gold = answers_by_question("ground_truth_answers", ground_truth_answers, query_ids)
        texts = {question: _texts(question, answers) for question, answers in predicted.items()}
        result = evaluate_answers(
            texts,
            gold,
            self.measures,
            match=self.match,
            threshold=self.threshold,
            gold_lists=self.gold_lists,
        )
        return component_outputs(result, list(texts), str(self.primary))

    run_async = make_run_async(run)


def _one_list_a_question(predicted: Any, num_questions: int) -> Any:
    """Return predicted answers with a list for each question, where they are one answer each.

    Raises:
        InputError: they are one list of answers, and not one answer for each question.
    """
    is_flat = isinstance(predicted, list) and any(
        isinstance(entry, (str, GeneratedAnswer, ExtractedAnswer)) for entry in predicted
    )
    if not is_flat:
        return predicted
    if len(predicted) != num_questions:
        msg = (
            f"predicted_answers is a list of {len(predicted)} answers for {num_questions} "
            "questions; pass one answer, or a list of answers, for each question: [[…], …]"
        )
        raise InputError(msg)
    return [[answer] for answer in predicted]


def _texts(question: str, answers: Any) -> list[str]:
    """Return the texts of answers; "" for an answer without text, which means "no answer"."""
    if isinstance(answers, (str, Mapping)) or not isinstance(answers, Sequence):
        msg = (
            f"the answers to question {question!r} must be a list of answers, not "
            f"{type(answers).__name__}"
        )
        raise InputError(msg)
    texts: list[str] = []
    for answer in answers:
        text = answer if isinstance(answer, str) else getattr(answer, "data", answer)
        if text is not None and not isinstance(text, str):
            msg = f"an answer to question {shown(question)} is {shown(answer)}, which has no text"
            raise InputError(msg)
        texts.append(text or "")
    return texts
