"""``--where COLUMN=VALUE`` reads one system of a file that holds several."""

import pytest

from beir_eval import read_qrels, read_run
from command_line import refusal, run, success

QUERIES = ("q1", "q2", "q3")
QRELS = "".join(f"{query} 0 a 1\n" for query in QUERIES)
DENSE = "".join(f"{query} Q0 a 1 0.9 dense\n{query} Q0 b 2 0.5 dense\n" for query in QUERIES)
BM25 = "".join(f"{query} Q0 b 1 9.0 bm25\n{query} Q0 a 2 8.0 bm25\n" for query in QUERIES)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "both.run").write_text(DENSE + BM25)
    (tmp_path / "other.run").write_text(BM25.replace(" a ", " c "))
    return tmp_path


@pytest.mark.parametrize("more", [(), ("--parts",), ("--duplicates", "first"), ("--stages",)])
def test_the_error_on_several_systems_names_the_option_and_both(folder, more):
    output = refusal(run("evaluate", folder / "q.txt", folder / "both.run", "-m", "MRR", *more))
    assert "'dense', 'bm25'; choose one with --where tag=dense, or write a file for each" in output
    assert "--duplicates" not in output


def test_the_advice_followed_gives_the_number_of_each_system(folder):
    for tag, mean in (("dense", "1.0000"), ("bm25", "0.5000")):
        arguments = ("evaluate", folder / "q.txt", folder / "both.run", "-m", "MRR")
        for more in ((), ("--parts",)):
            assert mean in success(run(*arguments, "--where", f"tag={tag}", *more))


def test_every_command_that_reads_tables_takes_where(folder):
    files = (folder / "q.txt", folder / "both.run")
    output = success(
        run("compare", *files, folder / "other.run", "-m", "MRR", "--where", "tag=bm25")
    )
    assert "0.5000" in output
    success(run("evaluate", *files, folder / "other.run", "--stages", "--where", "tag=bm25"))
    assert "2 entries a query" in success(run("validate", *files, "--where", "tag=dense"))
    success(run("convert", files[1], folder / "o.json", "--where", "tag=dense"))
    assert len(read_run(folder / "o.json")) == 3


def test_where_applies_to_every_input_that_has_the_column(folder):
    (folder / "q.csv").write_text("split,query_id,doc_id,grade\ntest,q1,a,1\ntrain,q1,a,2\n")
    (folder / "r.csv").write_text(
        "split,query_id,doc_id,score\ntest,q1,b,2\ntest,q1,a,1\ntrain,q1,a,2\n"
    )
    arguments = ("evaluate", folder / "q.csv", folder / "r.csv", folder / "other.run", "-m", "MRR")
    assert "0.5000" in success(run(*arguments, "--where", "split=test"))
    target = folder / "o.csv"
    success(run("convert", "--qrels", folder / "q.csv", target, "--where", "split=train"))
    assert read_qrels(target).as_dict() == {"q1": {"a": 2.0}}


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        (
            ["tag=bm25", "lang=de"],
            "--where states lang=de, but no file has the column 'lang': the tables have 'tag'",
        ),
        (["tag=x"], "--where states tag=x, but the column 'tag' has 'dense', 'bm25'"),
        (["tag"], "--where must be COLUMN=VALUE, each column once, not 'tag'"),
        (["=bm25"], "--where must be COLUMN=VALUE"),
        (["tag=bm25", "tag=dense"], "--where must be COLUMN=VALUE, each column once"),
    ],
)
def test_what_no_file_has_and_options_of_another_form_are_errors(folder, stated, problem):
    options = [word for pair in stated for word in ("--where", pair)]
    assert problem in refusal(run("evaluate", folder / "q.txt", folder / "both.run", *options))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--where", "tag=bm25"), "--where, --exclude, --corpus"),
        (("--chunk-ids", "#"), "--chunk-ids"),
        (("--keep-identical-ids",), "saved results were evaluated already"),
        (("--drop-identical-ids",), "saved results were evaluated already"),
    ],
)
def test_options_of_judgements_and_runs_are_not_for_saved_results(folder, option, words):
    saved = folder / "r.json"
    success(run("evaluate", folder / "q.txt", folder / "other.run", "-o", saved))
    assert words in refusal(run("compare", saved, *option))


def test_a_value_with_blanks_is_quoted_in_the_advice(folder):
    (folder / "r.csv").write_text("model,qid,docno,score\nBM25 (k1),q1,a,1\ndense,q1,a,1\n")
    output = refusal(run("evaluate", folder / "q.txt", folder / "r.csv", "-m", "MRR"))
    assert "choose one with --where 'model=BM25 (k1)'" in output


CHUNK_QRELS = "q1 0 a.py#1 1\nq2 0 b.py#3 1\n"
CHUNK_RUN = "".join(f"{q} Q0 a.py#2 1 2 t\n{q} Q0 b.py#1 2 1 t\n" for q in ("q1", "q2"))


@pytest.mark.parametrize("command", [["evaluate"], ["evaluate", "--stages"], ["compare"]])
def test_judgements_of_chunks_are_joined_as_the_runs_are(folder, command):
    (folder / "c.txt").write_text(CHUNK_QRELS + "q1 0 a.py#7 3\nq1 0 README 0\n")
    for file in ("r.run", "s.run"):
        (folder / file).write_text(CHUNK_RUN)
    files = (folder / "c.txt", folder / "r.run", folder / "s.run")
    name, *more = command
    output = success(run(name, *files, *more, "-m", "MRR", "--chunk-ids", "#"))
    assert "0.7500" in output
    assert "the judgements are of chunks, such as 'a.py#1': their documents are judged" in output


def test_ids_of_judged_documents_that_look_like_chunks_stay(folder):
    (folder / "c.txt").write_text("q1 0 doc-1 1\nq2 0 doc-2 1\n")
    (folder / "r.run").write_text("q1 Q0 doc-1-7 1 2 t\nq2 Q0 doc-1-2 1 2 t\n")
    arguments = ("evaluate", folder / "c.txt", folder / "r.run", "-m", "MRR", "--chunk-ids", "-")
    output = success(run(*arguments))
    assert "0.5000" in output
    assert "of chunks, such" not in output
