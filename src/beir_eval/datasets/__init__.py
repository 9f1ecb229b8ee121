"""Data sets: load them from folders or the hub, download BEIR's, look up BEIR's conventions.

Inside: ``dataset`` (``Dataset`` and its loaders), ``corpus`` (readers of documents and queries, and
the saved index of a large corpus), ``catalogue`` (splits and conventions of BEIR's data sets),
``download``, ``demo`` (the bundled data set).

Public: ``Dataset``, ``DatasetInfo``, ``Corpus``, ``load_dataset``, ``load_datasets``,
``load_from_hub``, ``download_dataset``, ``info_of``; ``demo.FOLDER`` and ``demo.RUNS``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.datasets.catalogue import DatasetInfo, info_of
    from beir_eval.datasets.corpus import Corpus
    from beir_eval.datasets.dataset import Dataset, load_dataset, load_datasets, load_from_hub
    from beir_eval.datasets.download import download_dataset

__all__ = [
    "Corpus",
    "Dataset",
    "DatasetInfo",
    "download_dataset",
    "info_of",
    "load_dataset",
    "load_datasets",
    "load_from_hub",
]

lazy_exports(
    __name__,
    {
        "beir_eval.datasets.catalogue": "DatasetInfo info_of",
        "beir_eval.datasets.corpus": "Corpus",
        "beir_eval.datasets.dataset": "Dataset load_dataset load_datasets load_from_hub",
        "beir_eval.datasets.download": "download_dataset",
    },
)
