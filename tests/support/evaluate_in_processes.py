"""Evaluate and train in one of several processes; run by ``test_several_processes``.

    RANK=0 WORLD_SIZE=2 … python evaluate_in_processes.py models output

Each process writes what it saw to ``output/process-<rank>.json``; evaluators write to
``output/alone``, the trainer to ``output/trained``.
"""

import faulthandler
import json
import os
import sys
from pathlib import Path

import torch.distributed as processes
from datasets import Dataset as Rows
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

from beir_eval import load_dataset
from beir_eval.datasets import demo
from beir_eval.integrations import sentence_transformers as ours


def retrieval_evaluator(dataset, **settings):
    queries = dict(list(dataset.queries.items())[:10])
    corpus = {document.doc_id: document.text for document in list(dataset.corpus)[:60]}
    return ours.InformationRetrievalEvaluator(
        queries, corpus, dataset.qrels.select(queries), name="demo", **settings
    )


def main():
    models, output = map(Path, sys.argv[1:])
    # What a process waits for, should it wait so long.
    faulthandler.dump_traceback_later(200)
    processes.init_process_group("gloo")
    rank, dataset = processes.get_rank(), load_dataset(demo.FOLDER)
    encoder = SentenceTransformer(str(models / "encoder"), device="cpu")
    evaluators = {
        "ours": (retrieval_evaluator(dataset), encoder),
        "compatible": (retrieval_evaluator(dataset, compatible=True), encoder),
    }
    seen = {"rank": rank}
    for name, (evaluator, model) in evaluators.items():
        # As a trainer does under FSDP and DeepSpeed.
        path = str(output / "alone" / name) if rank == 0 else None
        seen[name] = evaluator(model, output_path=path, epoch=1.0, steps=5)
    texts = [document.text for document in list(dataset.corpus)[:16]]
    evaluator = retrieval_evaluator(dataset, measures=["nDCG@10"])
    trainer = SentenceTransformerTrainer(
        model=encoder,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(output / "trained"),
            max_steps=3,
            per_device_train_batch_size=2,
            learning_rate=1e-7,
            eval_strategy="steps",
            eval_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Rows.from_dict({"anchor": texts, "positive": texts}),
        loss=MultipleNegativesRankingLoss(encoder),
        evaluator=evaluator,
    )
    trainer.train()
    key = "eval_demo_cosine_nDCG@10"
    seen |= {
        "world_size": trainer.args.world_size,
        "steps": trainer.state.global_step,
        "curve": [entry[key] for entry in trainer.state.log_history if key in entry],
    }
    (output / f"process-{rank}.json").write_text(json.dumps(seen))
    processes.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    # When the objects of torch are freed, its threads can wait for each other for ever: seen in one
    # of two runs of this file beside other work.
    os._exit(0)


if __name__ == "__main__":
    main()
