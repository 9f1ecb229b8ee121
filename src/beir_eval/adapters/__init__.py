"""Reading and writing of files in other formats.

Inside: ``readers`` and ``writers``, ``formats`` (the tables of formats, and a module for each
family of formats), ``dataset_folder`` (the files of a data set in a folder), ``run_parts`` (run
files read in parts) and ``run_size`` (whether one should be).

Public: ``read_qrels``, ``read_run``, ``read_mteb_predictions``, ``write_qrels``, ``write_run``.
"""

from beir_eval.adapters.readers import read_mteb_predictions, read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run

__all__ = ["read_mteb_predictions", "read_qrels", "read_run", "write_qrels", "write_run"]
