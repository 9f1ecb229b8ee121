"""A short hash of a text."""

import hashlib

#: The number of hexadecimal digits of the SHA-256 that are kept.
DIGITS = 16


def digest_of(content):
    """Return the first digits of the SHA-256 of a text or of bytes."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:DIGITS]
