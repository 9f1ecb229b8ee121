"""Reading and writing of files in other formats, qrels from votes, runs from search responses.

Inside: ``readers`` and ``writers``, ``formats`` (the tables of formats, and a module for each
family of formats), ``dataset_folder`` (the files of a data set in a folder), ``votes`` (qrels from
votes of people), ``search_responses`` (runs from the answers of search engines and vector
databases), ``run_parts`` (run files read in parts) and ``run_size`` (whether one should be).

Public: ``read_qrels``, ``read_run``, ``read_mteb_predictions``, ``write_qrels``, ``write_run``,
``qrels_from_votes``, ``VoteJudgements``, ``run_from_responses``, ``rank_eval_request``.
"""

from typing import TYPE_CHECKING

from beir_eval.adapters.readers import read_mteb_predictions, read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run
from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.adapters.search_responses import rank_eval_request, run_from_responses
    from beir_eval.adapters.votes import VoteJudgements, qrels_from_votes

__all__ = [
    "VoteJudgements",
    "qrels_from_votes",
    "rank_eval_request",
    "read_mteb_predictions",
    "read_qrels",
    "read_run",
    "run_from_responses",
    "write_qrels",
    "write_run",
]

lazy_exports(
    __name__,
    {
        "beir_eval.adapters.search_responses": "rank_eval_request run_from_responses",
        "beir_eval.adapters.votes": "qrels_from_votes VoteJudgements",
    },
)
