"""The targets, and for each the modules whose coverage guides the search."""

_READERS = ("beir_eval.adapters", "beir_eval.core")

MODULES = {
    "run": (*_READERS, "json.decoder", "json.scanner"),
    "qrels": (*_READERS, "json.decoder", "json.scanner"),
    "parquet": _READERS,
    "records": ("beir_eval.datasets", "beir_eval.core"),
    "dataset": ("beir_eval.datasets", *_READERS, "zipfile"),
    "journal": ("beir_eval.integrations.retrieval", *_READERS),
    "labels": ("beir_eval.cli.labels", "beir_eval.comparison.slices", "beir_eval.core"),
}
