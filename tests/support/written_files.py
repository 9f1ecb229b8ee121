"""Files that a test writes to read them."""


def write_file(folder, content, name="file"):
    """Write text or bytes into a file of this folder; return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
