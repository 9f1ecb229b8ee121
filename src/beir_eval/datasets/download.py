"""Download of BEIR's public archives: resume, compare the checksum, unpack atomically."""

from __future__ import annotations

import errno
import hashlib
import http.client
import lzma
import os
import shutil
import stat
import urllib.error
import urllib.request
import zipfile
import zlib
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from beir_eval.datasets.catalogue import info_of
from beir_eval.errors import FileFormatError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes that are read from the server at a time.
_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60
#: Exceptions raised for damaged or encrypted members.
_ARCHIVE_ERRORS = (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, lzma.LZMAError, OSError)
#: Error codes for members that are listed twice, or both as a file and as a folder.
_CLASH_ERRNOS = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


def download_dataset(
    name: str,
    folder: str | Path = "datasets",
    *,
    url: str | None = None,
    md5: str | None = None,
    progress: Callable[[int | None, int], None] | None = None,
) -> Path:
    """Download a data set's public archive, unpack it, and return the path of its folder.

    If the folder exists already, nothing is downloaded or checked. An interrupted download leaves
    the file ``<name>.….zip.part``; the next one resumes from it, if the server can send parts. The
    checksum is compared before anything is unpacked. The folder appears only when it is complete.

    Args:
        name: the name of the data set in BEIR; with ``url``, the name of the folder in the archive.
        folder: the folder in which the data set's folder is created; it is created if missing.
        url: the address (http or https) of another ZIP archive; by default that of BEIR.
        md5: the checksum of the archive at ``url``, as hex; None: no check. Ignored without
            ``url``: BEIR's archives are checked against the catalogue.
        progress: a function that is called after each chunk with the size of the archive in bytes
            (None if the server does not report it) and the number of bytes received.

    Returns:
        ``folder / name``, with BEIR's spelling of the name.

    Raises:
        SettingError: BEIR has no data set of that name, or it is not public; with ``url``: the name
            is not the name of a folder, or the address is not http or https.
        FileFormatError: the checksum differs, or the archive is damaged, lacks the folder, or has a
            member that is a link or could be written outside the folder.
        OSError: the server cannot be reached, or a file cannot be written.
    """
    if url is None:
        info = info_of(name)
        if info.url is None:
            msg = f"{name} is not public: it must be had from its owner ({info.licence})"
            raise SettingError(msg)
        name, url, md5 = info.name, info.url, info.md5
    elif not name or PurePosixPath(name).name != name or name in (".", "..") or "\0" in name:
        msg = f"name must be the name of a folder, not {name!r}"
        raise SettingError(msg)
    if not url.startswith(("http://", "https://")):
        msg = f"url must begin with http:// or https://, not {url!r}"
        raise SettingError(msg)
    target = Path(folder) / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # The name depends on the address: the partial download of another archive is not resumed.
    source = hashlib.sha256(url.encode()).hexdigest()[:8]
    archive = target.with_name(f"{name}.{source}.zip.part")
    try:
        _fetch(url, archive, progress)
    except (http.client.HTTPException, ValueError) as error:
        msg = f"{url} cannot be fetched: {error!r}"
        raise OSError(msg) from error
    if md5 is not None and (digest := _md5(archive)) != md5.lower():
        archive.unlink()
        problem = f"the archive from {url} has the MD5 {digest}, expected {md5}; fetch it again"
        raise FileFormatError(archive, problem)
    _unpack(archive, target)
    archive.unlink()
    return target


def _fetch(url: str, archive: Path, progress: Callable[[int | None, int], None] | None) -> None:
    """Download the archive; resume if a part of it exists.

    Raises:
        OSError: the server answers with an error, or the connection ends early.
    """
    received = archive.stat().st_size if archive.exists() else 0
    headers = {"Range": f"bytes={received}-"} if received else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http, checked above
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        if received and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # the archive is complete
        msg = f"{url} cannot be fetched: {error.code} {error.reason}"
        raise OSError(msg) from error
    with response:
        if response.status != HTTPStatus.PARTIAL_CONTENT:
            received = 0  # the server sends the archive from the start
        length = response.headers.get("Content-Length")
        size = None if length is None else received + int(length)
        with archive.open("ab" if received else "wb") as file:
            while chunk := response.read(_CHUNK_BYTES):
                file.write(chunk)
                received += len(chunk)
                if progress is not None:
                    progress(size, received)
    if size is not None and received < size:
        msg = f"{url}: the connection ended after {received} of {size} bytes; try again to go on"
        raise OSError(msg)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _unpack(archive: Path, target: Path) -> None:
    """Unpack the archive into a temporary folder beside ``target``, then rename it to ``target``.

    Raises:
        FileFormatError: the archive is damaged or unsafe; it is deleted.
        OSError: a file cannot be written.
    """
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            for member in members:
                _check_member(archive, member)
            for member in members:
                path = temporary / member.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
        unpacked = temporary / target.name
        _check_folder(archive, unpacked)
        unpacked.rename(target)
    except FileFormatError:
        archive.unlink()
        raise
    except _ARCHIVE_ERRORS as error:
        if isinstance(error, OSError) and error.errno not in (None, *_CLASH_ERRNOS):
            raise  # a fault of the disk, not of the archive
        archive.unlink()
        raise FileFormatError(archive, f"a damaged archive ({error}); fetch it again") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_folder(archive: Path, folder: Path) -> None:
    if not folder.is_dir():
        raise FileFormatError(archive, f"the archive holds no folder {folder.name!r}")


def _check_member(archive: Path, member: zipfile.ZipInfo) -> None:
    """Raise FileFormatError if a member would be written outside the folder or is a link."""
    name = member.filename
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name
    if unsafe or stat.S_ISLNK(member.external_attr >> 16):
        problem = f"the member {name!r} would leave the folder; nothing was unpacked"
        raise FileFormatError(archive, problem)
