"""Files that a test writes to read them."""

import polars as pl


def write_file(folder, content, name="file"):
    """Write text or bytes into a file of this folder; return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


#: What separates the columns of tables as text.
SEPARATORS = {"csv": ",", "semicolons": ";", "tabs": "\t"}


def write_table(path, table, kind):
    """Write what polars makes a table of as text, JSON lines or Parquet; return the path."""
    frame = pl.DataFrame(table)
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator=SEPARATORS[kind])
    return path
