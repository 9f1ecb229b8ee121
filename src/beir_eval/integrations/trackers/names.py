"""Names of measures as every tracker accepts them, and back.

MLflow refuses "@", "(" and "="; Weights & Biases sorts and filters by names of letters, digits and
underscores only, and trackio treats names with two underscores at the beginning as its own.
"""

from __future__ import annotations

import re

from beir_eval.errors import SettingError, shown

#: Characters in the names of measures, and the words that replace them.
_WORDS = {
    "@": "at",
    "(": "with",
    ")": "end",
    "=": "is",
    ",": "and",
    ".": "point",
    "-": "dash",
    " ": "blank",
    '"': "quote",
}
_CHARACTERS = {word: character for character, word in _WORDS.items()}
_REPLACEMENT = re.compile(rf"_(?:(?P<word>{'|'.join(_CHARACTERS)})|x(?P<code>[0-9a-f]{{2,6}}))_")
_LETTERS_AND_DIGITS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_LAST_CHARACTER = 0x10FFFF


def tracker_name(name: str) -> str:
    """Return a name of letters, digits and underscores; different names stay different.

    "@" becomes "_at_"; brackets, "=", commas, points, dashes, blanks and double quotes become such
    words too. Any other character becomes ``_x<its code in hexadecimal>_``. An underscore stays,
    unless the name begins with it or could be read in two ways. ``measure_name`` is the inverse.

    Args:
        name: the canonical name of a measure, the name of a custom one, or that of a system.

    >>> tracker_name("nDCG@10"), tracker_name("Precision(rel=2)@5")
    ('nDCG_at_10', 'Precision_with_rel_is_2_end__at_5')
    """
    text = _replaced(name, _LETTERS_AND_DIGITS | {"_"})
    if name.startswith("_") or _restored(text) != name:
        # With every underscore replaced, each remaining one begins or ends a replacement.
        text = _replaced(name, _LETTERS_AND_DIGITS)
    return text


def measure_name(name: str) -> str:
    """Return the name that ``tracker_name`` was called with.

    Args:
        name: a name that ``tracker_name`` returned.

    Raises:
        SettingError: ``tracker_name`` does not return it for any name.

    >>> measure_name("Precision_with_rel_is_2_end__at_5")
    'Precision(rel=2)@5'
    """
    original = _restored(name)
    if tracker_name(original) != name:
        msg = (
            f"{shown(name)} is not a name that tracker_name returns; for {shown(original)} it "
            f"returns {shown(tracker_name(original))}"
        )
        raise SettingError(msg)
    return original


def _replaced(name: str, kept: frozenset[str]) -> str:
    """Return the name with every character that is not kept replaced, and a leading digit."""
    return "".join(
        character
        if character in kept and not (position == 0 and character.isdecimal())
        else f"_{_WORDS.get(character, f'x{ord(character):02x}')}_"
        for position, character in enumerate(name)
    )


def _restored(text: str) -> str:
    """Return the text with the replacements of ``_replaced`` undone, from left to right."""
    return _REPLACEMENT.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    """Return the character that was replaced, or the text itself if its code is of none."""
    if match["word"]:
        return _CHARACTERS[match["word"]]
    code = int(match["code"], 16)
    return chr(code) if code <= _LAST_CHARACTER else match[0]
