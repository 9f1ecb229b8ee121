"""Messages are short, and show control characters as escapes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import errors
from beir_eval.errors import (
    MAX_MESSAGE_LENGTH,
    MAX_VALUE_SHOWN,
    BeirEvalError,
    FileFormatError,
    InputError,
    NotEvaluatedError,
    SettingError,
    check_choice,
    check_count,
    check_flag,
    check_name,
    escape_controls,
    message_text,
    shorten,
    shown,
)


@given(st.text())
def test_escaping_twice_is_escaping_once_and_leaves_nothing_that_a_terminal_interprets(text):
    escaped = escape_controls(text)
    assert escape_controls(escaped) == escaped
    assert not any(ord(character) < 32 and character != "\n" for character in escaped)
    assert "\x7f" not in escaped
    assert escaped.encode().decode() == escaped


def test_letters_of_all_scripts_and_line_breaks_are_shown_as_they_are():
    text = "naïve\u00a0日本語 क्‍ष 👩‍🚀\nnext"
    assert escape_controls(text) == text
    assert escape_controls("\u202eabc") == r"\u202eabc"


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_a_shortened_text_keeps_beginning_and_end(text, length):
    short = shorten(text, length)
    assert len(short) <= length
    assert short == text or (text.startswith(short.split("…")[0]) and len(text) > length)


def repr_of_type(value):
    return type(value).__name__


class Unprintable:
    def __repr__(self):
        raise ValueError


@pytest.mark.parametrize(
    "value", ["x" * 10**6, 10**5000, -(10**5000), Unprintable(), [1] * 10**5], ids=repr_of_type
)
def test_every_value_is_shown_in_a_few_characters(value):
    assert 0 < len(shown(value)) <= MAX_VALUE_SHOWN


def test_a_message_of_any_length_is_shortened_and_its_beginning_and_end_are_kept():
    error = InputError("first " + "word " * 10**5 + "last")
    assert len(str(error)) <= MAX_MESSAGE_LENGTH
    assert str(error).startswith("first")
    assert str(error).endswith("last")
    assert len(message_text("a" * 10**6)) <= 500
    assert len(message_text("a\x1b " * 10**4)) <= MAX_MESSAGE_LENGTH


@pytest.mark.parametrize(
    "error",
    [
        InputError("a\x1b[2Jb"),
        NotEvaluatedError("a\x1b[2Jb"),
        FileFormatError("f\x1b[2J", "a\x1b[2Jb"),
        BeirEvalError("a\x1b[2Jb"),
    ],
)
def test_the_message_of_an_error_has_no_control_character(error):
    assert "\x1b" not in str(error)
    assert r"\x1b[2J" in str(error)


def test_every_error_is_one_of_ours_and_of_the_fitting_kind_of_python():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, BeirEvalError) and kind != BeirEvalError:
            assert issubclass(kind, (ValueError, KeyError, RuntimeError, ImportError)), kind


@pytest.mark.parametrize("value", [np.array([1, 2]), ["a"], None, 3, float("nan")])
def test_a_choice_is_one_of_the_texts_and_any_other_object_is_refused(value):
    with pytest.raises(SettingError, match="choose one of 'a', 'b'"):
        check_choice("setting", value, ["a", "b"])


@pytest.mark.parametrize("value", [np.array([1, 2]), -1, 1.0, "1", True, None])
def test_a_count_is_a_whole_number_of_numpy_or_python(value):
    check_count("count", np.int64(3))
    with pytest.raises(SettingError, match="count must be a whole number"):
        check_count("count", value, least=0)


def test_a_flag_is_true_or_false_and_a_name_is_unicode():
    check_flag("flag", value=False)
    check_name("name", "")
    with pytest.raises(SettingError, match="flag must be True or False, not array"):
        check_flag("flag", np.array([True, False]))
    with pytest.raises(SettingError, match="name must be Unicode text"):
        check_name("name", "a\udcff")
