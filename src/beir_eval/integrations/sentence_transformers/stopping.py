"""``NoGainStoppingCallback``: ends a training run that no longer gains significantly."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from beir_eval.comparison.ledger import Ledger, LedgerSettings
from beir_eval.core.files import as_path
from beir_eval.errors import InputError, SettingError, check_count

if TYPE_CHECKING:
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

logger = logging.getLogger(__name__)

_FOLDER = "beir_eval_ledgers"
_LEDGER_FILE = re.compile(r"since-step-([0-9]+)\.jsonl")


class NoGainStoppingCallback(TrainerCallback):
    """Stops training when several evaluations in a row show no significant gain since a step.

    The first evaluation of the run is the baseline of a ``Ledger``, and each later one is a look of
    it, "better" or undecided. A checkpoint that is better becomes the baseline of the next ledger,
    which gets the looks and the share of alpha that are left, so that the levels of all looks add
    up to at most alpha. ``benchmarks/looks.py chain`` simulates how often such a chain errs.
    Training stops at the ``patience``-th look since the baseline without a gain. That no gain is
    significant does not show that there is none: with few queries small gains go unnoticed.

    A baseline was chosen on these queries, so its own score is rather too high, which makes a
    further gain harder to show. Choose and report the final checkpoint on other queries.

    The ledgers are the files ``since-step-300.jsonl`` of a folder. A run that is resumed from a
    checkpoint resumes the last of them.

    Args:
        evaluator: the evaluator of this package that the trainer calls, alone or in a list.
        measure: the measure; by default the first of the evaluator's measures.
        patience: the number of looks without a gain at which training stops.
        looks: the planned number of evaluations after the first; None if it is not known. Later
            evaluations are no looks.
        folder: the folder of the ledgers; by default ``<output_dir>/eval/beir_eval_ledgers``.
        margin: the smallest difference that you consider meaningful; see ``Ledger``.
        alpha: the sum of the levels of all looks.
        draws: the number of random sign vectors.
        rng: the seed of the sign vectors, a whole number from 0.

    Attributes:
        since: the step of the baseline; None before the first evaluation.
        ledger: its ledger.
        reason: why training was stopped, as a sentence; None if it was not.

    Raises:
        SettingError: an invalid setting.

        In training, InputError: the folder has ledgers of another run. SettingError: the trainer
        does not call the evaluator.
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        evaluator: Any,
        measure: MeasureLike | None = None,
        *,
        patience: int = 5,
        looks: int | None = 50,
        folder: str | Path | None = None,
        margin: float = 0.01,
        alpha: float = 0.05,
        draws: int = 100_000,
        rng: int = 0,
    ) -> None:
        if not hasattr(evaluator, "main_result"):
            msg = (
                "evaluator must be an evaluator of beir_eval.integrations.sentence_transformers, "
                f"not {type(evaluator).__name__}; of a list of evaluators, pass one of them"
            )
            raise SettingError(msg)
        check_count("patience", patience)
        self._evaluator = evaluator
        self._measure = evaluator.measures[0] if measure is None else measure
        self._patience = patience
        self._settings = LedgerSettings(
            looks=looks, margin=margin, alpha=alpha, alternative="greater", draws=draws, rng=rng
        )
        self._stated_folder = None if folder is None else as_path(folder)
        self._folder: Path | None = None
        self.since: int | None = None
        self.ledger: Ledger | None = None
        self.reason: str | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Find the last ledger of a run that is resumed.

        Raises:
            InputError: the run begins, and the folder has ledgers of another run.
            FileFormatError, OSError: the ledger cannot be read.
        """
        self._folder = self._stated_folder or Path(args.output_dir, "eval", _FOLDER)
        self.since, self.ledger, self.reason = None, None, None
        if not state.is_world_process_zero:
            return
        files = {
            int(match[1]): path
            for path in self._folder.glob("*.jsonl")
            if (match := _LEDGER_FILE.fullmatch(path.name))
        }
        if files and state.global_step == 0:
            msg = (
                f"{self._folder}: has ledgers of another training run, such as "
                f"{min(files.values()).name}; state another folder=… or another output_dir"
            )
            raise InputError(msg)
        if files:
            self.since = max(files)
            self.ledger = Ledger.open(files[self.since])

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Record the evaluation, and stop training if there is no gain.

        Raises:
            SettingError: the trainer does not call the evaluator.
            ResultError, OSError: as ``Ledger.record``.
        """
        if self._folder is None:  # an evaluation outside of training
            return
        reason = None
        if state.is_world_process_zero:
            reason = self._look(self._evaluator.main_result, state.global_step)
        from accelerate.utils import broadcast_object_list  # noqa: PLC0415 - a trainer's package

        # All processes must stop at the same step.
        [reason] = broadcast_object_list([reason])
        if reason is not None:
            logger.info("%s; training stops", reason)
            self.reason = reason
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Record nothing after training."""
        self._folder = None

    def _look(self, result: EvaluationResult | None, step: int) -> str | None:
        """Record the result of a step, and return why training must stop, if it must."""
        if result is None or result.name != f"step-{step}":
            msg = (
                f"the evaluator has no result of step {step}, so the trainer does not call it; "
                "pass the same object to the trainer and to NoGainStoppingCallback"
            )
            raise SettingError(msg)
        if self.ledger is None:
            self._begin(result, step, self._settings.looks, self._settings.alpha)
            return None
        looks = self.ledger.looks
        planned = self.ledger.settings.looks
        # A step of a resumed run may be recorded already.
        if result.name in {self.ledger.baseline.name, *(look.step for look in looks)}:
            return None
        if planned is not None and len(looks) >= planned:
            logger.warning("%s: all planned looks are used; %s is no look", self.ledger.path, step)
            return None
        look = self.ledger.record(result)
        logger.info("%s since step %s: %s", self.ledger.measure, self.since, look)
        if look.verdict == "better":
            looks_left = None if planned is None else planned - look.number
            if looks_left != 0:
                self._begin(result, step, looks_left, self.ledger.settings.alpha - look.level)
            return None
        if look.number < self._patience:
            return None
        return (
            f"no significant gain in {self.ledger.measure} since step {self.since}, after "
            f"{look.number:,} looks; the last is {look}"
        )

    def _begin(self, result: EvaluationResult, step: int, looks: int | None, alpha: float) -> None:
        """Begin the ledger whose baseline is this result."""
        assert self._folder is not None  # noqa: S101 - set when training begins
        self._folder.mkdir(parents=True, exist_ok=True)
        settings = self._settings
        self.since = step
        self.ledger = Ledger(
            self._folder / f"since-step-{step}.jsonl",
            result,
            self._measure,
            looks=looks,
            margin=settings.margin,
            alpha=alpha,
            alternative=settings.alternative,
            draws=settings.draws,
            rng=settings.rng,
        )
