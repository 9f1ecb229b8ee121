"""Every measure under its name, as this package and the top export them.

A file of measures says itself which names it exports, so that only files are listed here.
"""
# ruff: noqa: F403 - a list of what other files export

from beir_eval.measures.binary import *
from beir_eval.measures.counts import *
from beir_eval.measures.graded import *
from beir_eval.measures.incomplete_judgements import *
from beir_eval.measures.interpolated import *
from beir_eval.measures.trec_eval_extras import *
