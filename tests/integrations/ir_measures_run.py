"""Evaluate with ir_measures and print its numbers: ``ir_measures_run.py ours|theirs``.

Run in its own process by ``test_pytrec_eval``: with "ours" the C extension is absent.
"""

import json
import random
import sys

if sys.argv[1] == "ours":
    sys.modules["pytrec_eval_ext"] = None
    import beir_eval.integrations.pytrec_eval as ours

    ours.install()

import ir_measures

MEASURES = [
    *("P@5", "P(rel=2)@5", "P(judged_only=True)@5", "RR", "RR(rel=2)", "Rprec", "AP", "AP@10"),
    *("AP(rel=2)", "nDCG", "nDCG@10", "nDCG(judged_only=True)@10", "nDCG(gains={0:0,1:1,2:5})@10"),
    *("R@10", "R(rel=2)@10", "Bpref", "Bpref(rel=2)", "NumRet", "NumRet(rel=1)", "NumQ", "NumRel"),
    *("SetAP", "SetF", "SetF(beta=0.5)", "SetP", "SetP(relative=True)", "SetR", "Success@5"),
    *("IPrec@0.1", "IPrec@0.5", "infAP", "infAP(rel=2)"),
]

rng = random.Random(3)
docs = [f"d{number}" for number in range(40)]
# Every query has a document of grade 2: without one, relative precision divides by 0.
qrels = {
    f"q{query}": {doc: rng.randrange(3) for doc in rng.sample(docs, 20)} | {"d0": 2}
    for query in range(12)
}
# Two queries are missing (ir_measures counts them 0), one is not judged, many scores are tied.
run = {
    f"q{query}": {doc: rng.choice([rng.random(), 0.5]) for doc in rng.sample(docs, 30)}
    for query in [*range(2, 12), 99]
}
measures = [ir_measures.parse_measure(name) for name in MEASURES]
output = {
    "available": ir_measures.pytrec_eval.is_available(),
    "module": sys.modules["pytrec_eval"].__name__,
    "queries": [
        [metric.query_id, str(metric.measure), metric.value]
        for metric in ir_measures.pytrec_eval.iter_calc(measures, qrels, run)
    ],
    "means": {
        str(measure): mean
        for measure, mean in ir_measures.calc_aggregate(measures, qrels, run).items()
    },
    "official": list(map(str, ir_measures.parse_trec_measure("official"))),
}
sys.stdout.write(json.dumps(output) + "\n")
