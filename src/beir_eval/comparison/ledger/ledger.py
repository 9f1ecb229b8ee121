"""``Ledger``: the looks at one test set during a training run, each with a verdict that holds."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.alignment import align_scores
from beir_eval.comparison.coverage import coverage_of, warn_of_content, warnings_of
from beir_eval.comparison.ledger.ledger_file import (
    LedgerHeader,
    LedgerSettings,
    Look,
    create_ledger_file,
    locked_ledger,
    read_ledger_file,
)
from beir_eval.comparison.verdict_sentences import measure_text, signed_text, source_notes
from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Cell, Table
from beir_eval.display.words import VERDICTS
from beir_eval.errors import (
    ResultError,
    SettingError,
    check_name,
    shown,
)
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures.names import names_among
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.spending import flip_looks, spend

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.coverage import SystemCoverage
    from beir_eval.comparison.records import Direction
    from beir_eval.measures import MeasureLike
    from beir_eval.significance.spending import Crossing, Flips

#: The marks of verdicts in the table.
#: The hexadecimal digits of a hash that a message shows.
_DIGITS_SHOWN = 12


class Ledger(Shown):
    """A file that records each look at a test set during a training run, with its verdict.

    Each look tests a checkpoint against the same baseline, on the same queries. With a test at .05
    at each of 50 looks, some look is "better" or "worse" by chance in 13% to 64% of simulated
    training runs (``benchmarks/looks.py``), the more often the less alike the checkpoints are. A
    ledger spends alpha over all looks instead: if no checkpoint differs from the baseline, the
    chance of any verdict at all looks together is at most alpha. A look that is decided stays
    decided.

    Looks are tested jointly by random sign flips of the differences of all of them, which keep the
    correlation of neighbouring checkpoints: the bounds are at most those of Bonferroni, alpha/50 at
    each look. The bound of each look is written down and never computed again. It assumes, as
    ``compare`` does, independent queries and differences that are symmetric if nothing differs.

    **It holds only if training does not react to what the ledger prints.** If you keep, average or
    continue checkpoints because of it, later checkpoints are chosen on these queries, and the
    chance of a wrong verdict is higher. Choose on other queries. Stopping the run is no such
    reaction.

    The file is created if it does not exist; else everything must agree with what it holds. It is
    only appended to. Each look is on the disk before ``record`` returns, and several processes may
    record at once. ``beir-eval ledger`` does the same on the command line.

    A query on which the measure is undefined for the baseline or the checkpoint is left out of that
    look. Scores that differ only by rounding are equal.

    Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70(3),
    1983; with joint sign flips in place of the normal distribution.

    Args:
        path: the file of the ledger, JSON lines.
        baseline: the result of the system that checkpoints are compared with, of
            ``evaluate(..., fingerprint=True)``: the SHA-256 of the qrels identifies the test set.
        measure: the measure, or its name in any spelling that ``parse`` reads.
        looks: the planned number of looks, each of which may spend the same share of alpha; None
            for no planned number: look k may then spend a share proportional to 1/(k·ln²(k + 1)).
        reserve: the share of alpha kept for looks after the planned ones; they are refused if it is
            0.
        margin: the smallest difference that you consider meaningful, in the unit of the measure; a
            smaller one that is decided is shown as "better by less than 0.01
            (estimated)".
        alpha: the level of all looks together.
        alternative: "two-sided", or "greater": only "better" can be decided, sooner.
        draws: the number of random sign vectors.
        rng: the seed of the sign vectors, a whole number from 0.

    Attributes:
        path: the file.
        baseline: the result of the baseline, with this measure only.
        measure: the canonical name of the measure, or the name of a custom one.
        settings: the settings above, as ``LedgerSettings``.

    Raises:
        SettingError: an invalid setting, or another one than the ledger has.
        ResultError: another baseline, measure or test set than the ledger has, a baseline that is
            no result, or one without the SHA-256 of its qrels.
        NotEvaluatedError: the baseline lacks the measure.
        MeasureError: an unknown measure, or one that cannot be compared.
        FileFormatError: the file is not a ledger, is of another version, or was changed or damaged.
        InputError: the file cannot be locked, or its folder does not exist.
        OSError: the file cannot be read or written.

    >>> import tempfile
    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(30)}
    >>> def result_of(step, score):
    ...     run = {query: {"a": score, "b": 3 + n % 2} for n, query in enumerate(qrels)}
    ...     return evaluate(qrels, run, ["MRR"], name=step, fingerprint=True)
    >>> folder = tempfile.mkdtemp()
    >>> ledger = Ledger(f"{folder}/mrr.jsonl", result_of("start", 2), "MRR", looks=20)
    >>> print(ledger.record(result_of("step-100", 2.5)))
    look 1 of 20: 0.0000, t = 0.0, undecided (no verdict was possible)
    >>> print(ledger.record(result_of("step-200", 3.5)))
    look 2 of 20: +0.2500, t = 5.4, better (3.3 decides)
    """

    path: Path
    baseline: EvaluationResult
    measure: str
    settings: LedgerSettings
    _header: LedgerHeader

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        path: str | Path,
        baseline: EvaluationResult,
        measure: MeasureLike,
        *,
        looks: int | None = 50,
        reserve: float = 0.0,
        margin: float = 0.01,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        draws: int = 100_000,
        rng: int = 0,
    ) -> None:
        source = as_path(path)
        settings = LedgerSettings(
            looks=looks,
            reserve=reserve,
            margin=margin,
            alpha=alpha,
            alternative=alternative,
            draws=draws,
            rng=rng,
        )
        header = _header_of(baseline, measure, settings)
        try:
            stored = read_ledger_file(source).header
        except FileNotFoundError:
            stored = _created(source, header)
        _check_same(source, stored, header)
        self.path, self._header = source, stored
        self.baseline, self.measure = stored.baseline, stored.measure
        self.settings = stored.settings

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Return the ledger in an existing file.

        Args:
            path: the file.

        Raises:
            FileFormatError: the file is not a ledger, is of another version, or was changed or
                damaged.
            InputError: ``path`` is neither text nor a path.
            OSError: the file cannot be read.
        """
        source = as_path(path)
        header = read_ledger_file(source).header
        return cls(source, header.baseline, header.measure, **asdict(header.settings))

    @property
    def looks(self) -> tuple[Look, ...]:
        """All looks so far, also those of other processes: the file is read at each access.

        Raises:
            FileFormatError: the file was changed or damaged.
            OSError: the file cannot be read.
        """
        return read_ledger_file(self.path).looks

    def record(self, result: EvaluationResult, step: str | int | None = None) -> Look:
        """Test a checkpoint against the baseline, append the look to the file, and return it.

        The same step with the same scores returns the look that is recorded already, and does not
        count again. A checkpoint that was trained again is another step.

        Args:
            result: the result of the checkpoint, of ``evaluate(..., fingerprint=True)`` with the
                judgements and settings of the baseline.
            step: the name or number of the checkpoint; by default the name of the result.

        Raises:
            ResultError: ``result`` is no result; it has another test set or other settings than the
                baseline; the step is recorded with other scores; or all looks are used up.
            QueryMismatchError: it has other queries than the baseline.
            NotEvaluatedError: it lacks the measure.
            SettingError: ``step`` is neither text nor a whole number.
            InputError: fewer than two queries on which both have a score, or the file cannot be
                locked.
            FileFormatError: the file was changed or damaged.
            OSError: the file cannot be read or written; it has no part of the look then.

        Warns:
            BeirEvalWarning: the document ids of the checkpoint do not match those of the qrels.
        """
        result = _checked_result("result", result)
        name = _step_name(result.name if step is None else step)
        scores, coverage = self._compared(result, name)
        scores_hash = _hash_of_scores(result, self.measure)
        recorded = self._recorded(self.looks, name, scores_hash)
        if recorded is not None:
            return recorded
        warn_of_content(coverage)
        gains = self._header.scale.gains(scores.scores[1] - scores.scores[0])
        signs = SignVectors.choose(len(gains), self.settings.draws, self.settings.rng)
        # Before the lock, since this takes most of the time and needs no earlier look.
        flips = flip_looks(gains[None], scores.keys, signs, self.settings.alternative)
        with locked_ledger(self.path) as file:
            if file.content.header != self._header:
                msg = f"{self.path}: the file was replaced by another ledger; open it again"
                raise ResultError(msg)
            recorded = self._recorded(file.content.looks, name, scores_hash)
            if recorded is not None:  # by another process, meanwhile
                return recorded
            crossing = self._spend(flips, file.content.looks)
            look = Look(
                number=len(file.content.looks) + 1,
                planned=self.settings.looks,
                step=name,
                difference=float(np.diff(scores.scores.mean(axis=1))[0]),
                statistic=float(flips.observed[0]),
                bound=crossing.bound,
                verdict=_verdict_of(crossing, gains.mean()),
                level=self.settings.spending.up_to(len(file.content.looks) + 1),
                alpha_spent=crossing.count / (flips.drawn.shape[1] + 1),
                num_spent=crossing.count,
                spent=tuple(crossing.spent.tolist()),
                wins=int((gains > 0).sum()),
                ties=int((gains == 0).sum()),
                losses=int((gains < 0).sum()),
                num_queries=len(gains),
                margin=self.settings.margin,
                scores_sha256=scores_hash,
                warnings=tuple(warnings_of(coverage)),
            )
            file.append(look)
        return look

    def check(self, result: EvaluationResult, steps: Sequence[str]) -> None:
        """Raise what ``record`` would raise for results like this one; nothing is recorded.

        A caller whose results are expensive checks with a result of any scores first. What depends
        on scores only ``record`` can check: a step that is recorded with others.

        Args:
            result: a result with the judgements, settings and measures of those to record.
            steps: the names of the checkpoints to record; those recorded already need no look.

        Raises:
            ResultError, QueryMismatchError, NotEvaluatedError, InputError: as ``record``; or fewer
                looks are left than there are new steps.
            FileFormatError, OSError: the file was changed or damaged, or cannot be read.
        """
        self._compared(_checked_result("result", result), result.name)
        looks = self.looks
        num_new = len(set(steps).difference(look.step for look in looks))
        if not num_new:
            return
        self._check_looks_left(len(looks) + 1)
        planned = self.settings.looks
        if planned is not None and not self.settings.spending.allows(len(looks) + num_new):
            msg = (
                f"{self.path}: {num_new} checkpoints are new, but of {planned} planned looks "
                f"{planned - len(looks)} are left, and no alpha is reserved for others; record "
                "fewer checkpoints"
            )
            raise ResultError(msg)

    def _compared(
        self, result: EvaluationResult, name: str
    ) -> tuple[MeasureScores, tuple[SystemCoverage, ...]]:
        """Return the scores of baseline and checkpoint, and the coverage of the checkpoint.

        Raises:
            ResultError, QueryMismatchError, NotEvaluatedError, InputError: as ``record``.
        """
        _check_test_set(self.path, self.baseline, result)
        label = name if name != self.baseline.name else f"step {name}"
        joined = align_scores(
            {self.baseline.name: self.baseline, label: result}, self.measure, "error"
        )
        coverage = coverage_of({label: [result]}, [self.measure])
        return joined.by_measure[0].where_defined(), coverage

    def _recorded(self, looks: Sequence[Look], name: str, scores_hash: str) -> Look | None:
        """Return the look of a step that is recorded already; None if there is a look left for it.

        Raises:
            ResultError: the step is recorded with other scores, or all looks are used up.
        """
        for look in looks:
            if look.step == name:
                if look.scores_sha256 == scores_hash:
                    return look
                msg = (
                    f"{self.path}: step {shown(name)} is recorded with other scores, as look "
                    f"{look.number}; a checkpoint that was trained again is a new step: record it "
                    "under another name"
                )
                raise ResultError(msg)
        self._check_looks_left(len(looks) + 1)
        return None

    def _check_looks_left(self, number: int) -> None:
        """Raise ResultError if the ledger does not allow a look of this number."""
        if not self.settings.spending.allows(number):
            msg = (
                f"{self.path}: all {self.settings.looks} planned looks are used up, and no alpha "
                "is reserved for others; another ledger on the same test set would start from "
                "a chance of error of 0 that is no longer true: use other queries"
            )
            raise ResultError(msg)

    def _spend(self, flips: Flips, looks: Sequence[Look]) -> Crossing:
        """Return what the next look spends, after these looks."""
        is_alive = np.ones(flips.drawn.shape[1], dtype=np.bool_)
        for look in looks:
            is_alive[list(look.spent)] = False
        return spend(
            float(flips.observed[0]),
            flips.drawn[0],
            float(flips.largest[0]),
            np.flatnonzero(is_alive),
            count=looks[-1].num_spent if looks else 0,
            level=self.settings.spending.up_to(len(looks) + 1),
            has_crossed=any(look.verdict != "undecided" for look in looks),
        )

    # Other shapes

    def to_table(self) -> Table:
        """Return a table of all looks: difference, t, the t that decides, and the verdict."""
        return _table_of(self.looks)

    def _notes(self, looks: Sequence[Look]) -> list[str]:
        settings, scale = self.settings, self._header.scale
        sides = "two-sided" if settings.alternative == "two-sided" else "one-sided (better only)"
        number = "any number of" if settings.looks is None else f"{settings.looks:,} planned"
        covered = f"{number} looks"
        if settings.reserve:
            covered += f" and further ones ({settings.reserve:.0%} of alpha is reserved for them)"
        count = f"{len(looks):,} {'look' if len(looks) == 1 else 'looks'}"
        promise = (
            f"if no checkpoint differs from {self.baseline.name} and differences by query are "
            "symmetric about 0, the chance of any verdict over all looks is at most "
            f"{settings.alpha:g}; this holds only if training does not react to what the ledger "
            "prints"
        )
        notes = [f"{count} so far, of {covered}; {sides} joint sign flips of all looks", promise]
        elsewhere = (self.baseline.name,) if self.baseline.settings is None else ()
        notes += source_notes(elsewhere, elsewhere, self.baseline.custom_measures)
        if not scale.higher_is_better:
            notes.append("t has the sign of the difference: below 0 is better")
        return notes

    def document(self) -> Document:
        """Return a table of all looks, and what the verdicts cover."""
        looks = self.looks
        coverage = coverage_of({self.baseline.name: [self.baseline]}, [self.measure])
        warnings = [sentence for look in looks for sentence in look.warnings]
        return Document(
            warnings=[*warnings_of(coverage), *warnings],
            sentences=[Sentence(self.heading)],
            tables=[lambda: _table_of(looks)],
            notes=self._notes(looks),
        )

    @property
    def heading(self) -> str:
        """The heading of the table: the measure, its direction, and the baseline."""
        measure = measure_text(self.measure, higher_is_better=self._header.scale.higher_is_better)
        return f"{measure}, each checkpoint against {self.baseline.name}"

    def __repr__(self) -> str:
        """Return the class, the file and the measure, not the looks."""
        return f"Ledger({shown(str(self.path))}, {self.measure})"


def _table_of(looks: Sequence[Look]) -> Table:
    return Table(
        ("look", "step", "difference", "t", "decides", "won/tied/lost", "alpha spent", "verdict"),
        [
            (
                f"{look.number}",
                look.step,
                Cell(signed_text(look.difference), VERDICTS[look.verdict].mark, look.verdict),
                look.t_text,
                look.critical_text,
                f"{look.wins}/{look.ties}/{look.losses}",
                f"{look.alpha_spent:.4f}",
                look.verdict_text,
            )
            for look in looks
        ],
    )


def _created(path: Path, header: LedgerHeader) -> LedgerHeader:
    """Create the file, and return its header: another process's, if that was quicker."""
    try:
        create_ledger_file(path, header)
    except FileExistsError:
        return read_ledger_file(path).header
    return header


def _header_of(baseline: object, measure: MeasureLike, settings: LedgerSettings) -> LedgerHeader:
    """Return the first line of a new ledger.

    Raises:
        ResultError: the baseline is no result, or lacks the SHA-256 of its qrels.
        NotEvaluatedError: it lacks the measure.
        MeasureError: the measure is unknown or cannot be compared.
    """
    result = _checked_result("baseline", baseline)
    _check_has_hash(result)
    names = names_among(set(result.measures), measure)
    if len(names) != 1:
        msg = f"a ledger has one measure, not {len(names)}; begin a ledger for each"
        raise SettingError(msg)
    # It checks that the measure exists in the result and can be compared.
    align_scores({result.name: result, f"{result.name} itself": result}, names, "error")
    return LedgerHeader(
        measure=names[0], settings=settings, baseline=_with_one_measure(result, names[0])
    )


def _with_one_measure(result: EvaluationResult, measure: str) -> EvaluationResult:
    """Return a result with one of its measures only, without documents and times."""
    index = result.measures.index(measure)
    skipped = result.skipped_values
    custom = result.custom_measures
    return EvaluationResult(
        name=result.name,
        measures=(measure,),
        query_ids=result.query_ids,
        values=ScoreMatrix(result.values.array[[index]]),
        skipped_values=None if skipped is None else ScoreMatrix(skipped.array[[index]]),
        counted=result.counted,
        settings=result.settings,
        provenance=result.provenance,
        custom_measures={measure: custom[measure]} if measure in custom else {},
    )


def _checked_result(label: str, result: object) -> EvaluationResult:
    """Return an argument that is a result, or raise ResultError."""
    if not isinstance(result, EvaluationResult):
        msg = (
            f"{label} must be an EvaluationResult, not {shown(result)}; evaluate(qrels, run, "
            "fingerprint=True) returns one, EvaluationResult.load(path) reads one"
        )
        raise ResultError(msg)
    return result


def _check_has_hash(result: EvaluationResult) -> None:
    """Raise ResultError if the qrels of a result are not known, but could be."""
    if result.settings is not None and result.provenance.qrels_sha256 is None:
        msg = (
            f"{result.name!r} does not say which judgements it is of: a ledger needs their "
            "SHA-256, evaluate(..., fingerprint=True)"
        )
        raise ResultError(msg)


def _check_test_set(path: Path, baseline: EvaluationResult, result: EvaluationResult) -> None:
    """Raise ResultError unless a result is of the test set of the ledger, as far as it is known."""
    _check_has_hash(result)
    theirs, ours = result.provenance.qrels_sha256, baseline.provenance.qrels_sha256
    if (result.settings is None) != (baseline.settings is None):
        names = (result.name, baseline.name)
        elsewhere, other = names if result.settings is None else names[::-1]
        msg = (
            f"{path}: the scores of {elsewhere!r} were computed elsewhere, those of {other!r} were "
            "not: whether both are of the same test set is not known; compute both in the same way"
        )
        raise ResultError(msg)
    if theirs != ours:
        msg = (
            f"{path}: {result.name!r} is of another test set than the ledger: the SHA-256 of its "
            f"qrels is {_short(theirs)}, that of the ledger's {_short(ours)}; begin another ledger"
        )
        raise ResultError(msg)


def _short(digits: str | None) -> str:
    """Return the beginning of a hash for a message."""
    return "not known" if digits is None else f"{digits[:_DIGITS_SHOWN]}…"


def _check_same(path: Path, stored: LedgerHeader, stated: LedgerHeader) -> None:
    """Check that what was stated for a ledger agrees with what it holds.

    Raises:
        SettingError: a setting differs; the message names both values.
        ResultError: the measure, the test set or the baseline differs.
    """
    fixed = "it is fixed when a ledger is created; state the same, or begin another ledger"
    ours, theirs = asdict(stored.settings), asdict(stated.settings)
    for field in fields(LedgerSettings):
        if ours[field.name] != theirs[field.name]:
            msg = (
                f"{path}: the ledger has {field.name}={ours[field.name]!r}, not "
                f"{theirs[field.name]!r}; {fixed}"
            )
            raise SettingError(msg)
    if stored.measure != stated.measure:
        msg = f"{path}: the ledger is for {stored.measure}, not for {stated.measure}; {fixed}"
        raise ResultError(msg)
    _check_test_set(path, stored.baseline, stated.baseline)
    if stored.baseline.name != stated.baseline.name:
        msg = (
            f"{path}: the baseline of the ledger is {stored.baseline.name!r}, not "
            f"{stated.baseline.name!r}; {fixed}"
        )
        raise ResultError(msg)
    differing = [
        label
        for label in ("settings", "query_ids", "values", "custom_measures")
        if getattr(stored.baseline, label) != getattr(stated.baseline, label)
    ]
    if differing:
        label = {"settings": "settings of evaluation", "values": "scores"}.get(
            differing[0], differing[0].replace("_", " ")
        )
        values = ""
        if differing[0] == "settings":
            values = f" ({stored.baseline.settings} and {stated.baseline.settings})"
        msg = (
            f"{path}: the baseline {stated.baseline.name!r} has other {label} than that of the "
            f"ledger{values}; {fixed}"
        )
        raise ResultError(msg)


def _step_name(step: object) -> str:
    """Return the name of a step, or raise SettingError if it is neither text nor a number."""
    try:
        name = id_text(step)
    except (TypeError, ValueError) as error:
        msg = f"step must be text or a whole number, not {shown(step)}"
        raise SettingError(msg) from error
    check_name("step", name)
    return name


def _hash_of_scores(result: EvaluationResult, measure: str) -> str:
    """Return the SHA-256 of the scores by query, in the order of the sorted query ids."""
    order = sorted(range(len(result.query_ids)), key=result.query_ids.__getitem__)
    scores = result.scores(measure)[order]
    # Every NaN has the same bits here, and 0.0 those of −0.0.
    plain = np.where(np.isnan(scores), np.nan, scores) + 0.0
    return hashlib.sha256(plain.astype("<f8").tobytes()).hexdigest()


def _verdict_of(crossing: Crossing, mean_gain: float) -> Direction:
    if not crossing.crosses:
        return "undecided"
    return "better" if mean_gain > 0 else "worse"
