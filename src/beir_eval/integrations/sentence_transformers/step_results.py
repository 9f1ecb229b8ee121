"""The result of each evaluation of a training run: its name, its file, and the results so far."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from beir_eval.core.files import as_path

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult

logger = logging.getLogger(__name__)

#: The folder inside the output folder of the trainer's evaluators.
FOLDER = "beir_eval"
_NOT_IN_FILE_NAMES = re.compile(r"[^\w.+-]+")


def step_name(epoch: float, steps: int) -> str:
    """Return the name of the result of a step.

    Args:
        epoch: the epoch, -1 outside of training.
        steps: the global step, -1 at the end of an epoch or outside of training.
    """
    if steps >= 0:
        return f"step-{steps}"
    return "evaluation" if epoch < 0 else f"epoch-{epoch:g}"


def results_folder(output_path: str | Path, *parts: str) -> Path:
    """Return the folder of the results of one evaluator.

    Args:
        output_path: the folder that the trainer passes to its evaluators.
        parts: the names of the evaluator and of the score function.
    """
    names = [_NOT_IN_FILE_NAMES.sub("_", part).strip(".") or "evaluator" for part in parts]
    return as_path(output_path).joinpath(FOLDER, *names)


class StepResults:
    """Saves results, each step once.

    A trainer evaluates its last step again when ``trainer.evaluate()`` is called after training,
    perhaps with the weights of another step (``load_best_model_at_end``). This is no result of that
    step: the first result is kept.
    """

    def __init__(self) -> None:
        self._last: dict[Path, EvaluationResult] = {}

    def save(self, result: EvaluationResult, folder: Path) -> None:
        """Save a result as ``<folder>/<its name>.json``, unless this step was just saved.

        Raises:
            OSError: the file cannot be written.
        """
        last = self._last.get(folder)
        if last is not None and last.name == result.name and result.name.startswith("step-"):
            if last != result:
                logger.warning(
                    "%s was evaluated again with other scores, so the weights of the model are not "
                    "those of this step; %s keeps the first result",
                    result.name,
                    folder / f"{result.name}.json",
                )
            return
        folder.mkdir(parents=True, exist_ok=True)
        result.save(folder / f"{result.name}.json")
        self._last[folder] = result
