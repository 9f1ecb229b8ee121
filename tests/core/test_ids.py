"""Lists of ids that callers pass: as text, and each id once."""

import pytest

from beir_eval.core.ids import distinct_ids
from beir_eval.errors import InputError


def test_ids_become_text_in_the_order_given():
    assert distinct_ids(iter(["q2", 7, "q1"]), "query_ids", InputError) == ["q2", "7", "q1"]


@pytest.mark.parametrize("text", ["q1", b"q1"])
def test_a_text_is_no_list_of_ids(text):
    with pytest.raises(InputError, match=r"^query_ids must be a list of ids, not the text b?'q1'$"):
        distinct_ids(text, "query_ids", InputError)


def test_an_id_that_is_listed_twice_is_named():
    with pytest.raises(InputError, match=r"^query_ids must be distinct, but '7' are listed twice$"):
        distinct_ids(["7", "q", 7], "query_ids", InputError)
