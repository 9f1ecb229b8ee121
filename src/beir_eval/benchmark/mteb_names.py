"""The names of MTEB's tasks and of the files of their predictions."""

from __future__ import annotations

from beir_eval.datasets.catalogue import DATASETS

#: The names of BEIR's data sets in MTEB.
_TASKS = {
    "msmarco": "MSMARCO",
    "trec-covid": "TRECCOVID",
    "nfcorpus": "NFCorpus",
    "nq": "NQ",
    "hotpotqa": "HotpotQA",
    "fiqa": "FiQA2018",
    "arguana": "ArguAna",
    "webis-touche2020": "Touche2020",
    "quora": "QuoraRetrieval",
    "dbpedia-entity": "DBPedia",
    "scidocs": "SCIDOCS",
    "fever": "FEVER",
    "climate-fever": "ClimateFEVER",
    "scifact": "SciFact",
    **{
        f"cqadupstack/{forum}": f"CQADupstack{forum.capitalize()}Retrieval"
        for forum in DATASETS["cqadupstack"].parts
    },
}


def mteb_task(name: str) -> str:
    """Return the name of MTEB's task for a data set, which has BEIR's name or one of its own.

    >>> mteb_task("fiqa"), mteb_task("our-tickets")
    ('FiQA2018', 'our-tickets')
    """
    return _TASKS.get(name, name)


def predictions_stem(name: str) -> str:
    """Return the name, without its ending, of the file of MTEB's predictions for a data set.

    >>> predictions_stem("fiqa")
    'FiQA2018_predictions'
    """
    return f"{mteb_task(name)}_predictions"
