"""Fetching BEIR's public archives: resumed, checked, unpacked whole or not at all."""

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

_PART = 1 << 20
_SECONDS = 60
#: What the packers raise for damaged or encrypted members, and members that stand twice.
_DAMAGES = (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, lzma.LZMAError, OSError)
_CLASHES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


def download_dataset(
    name: str,
    folder: str | Path = "datasets",
    *,
    url: str | None = None,
    md5: str | None = None,
    progress: Callable[[int | None, int], None] | None = None,
) -> Path:
    """Fetch a data set's public archive and unpack it; return its folder.

    What is there already is left as it is. A download that was interrupted goes on where it stopped
    (``<name>.….zip.part``). The checksum is compared before anything is unpacked; the folder
    appears whole or not at all.

    Args:
        name: BEIR's name of the data set, and that of the folder in the archive.
        folder: where to put it.
        url: another archive; by default BEIR's own.
        md5: its checksum; by default BEIR's own, and none for another archive.
        progress: called with the size of the archive (None where the server does not say) and the
            bytes that have arrived.

    Raises:
        SettingError: BEIR has no such data set, or it is not public.
        FileFormatError: the checksum differs, the archive is damaged, or a member of it would leave
            the folder.
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
    # What is left of another archive is not gone on with.
    source = hashlib.sha256(url.encode()).hexdigest()[:8]
    archive = target.with_name(f"{name}.{source}.zip.part")
    try:
        _fetch(url, archive, progress)
    except (http.client.HTTPException, ValueError) as error:
        msg = f"{url} cannot be fetched: {error!r}"
        raise OSError(msg) from error
    if md5 is not None and (found := _md5(archive)) != md5.lower():
        archive.unlink()
        problem = f"the archive from {url} has the MD5 {found}, expected {md5}; fetch it again"
        raise FileFormatError(archive, problem)
    _unpack(archive, target)
    archive.unlink()
    return target


def _fetch(url: str, archive: Path, progress: Callable[[int | None, int], None] | None) -> None:
    """Fetch what is not there yet."""
    there = archive.stat().st_size if archive.exists() else 0
    headers = {"Range": f"bytes={there}-"} if there else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http, checked above
    try:
        answer = urllib.request.urlopen(request, timeout=_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        if there and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # all of it is there
        msg = f"{url} cannot be fetched: {error.code} {error.reason}"
        raise OSError(msg) from error
    with answer:
        if answer.status != HTTPStatus.PARTIAL_CONTENT:
            there = 0  # the server begins anew
        length = answer.headers.get("Content-Length")
        whole = None if length is None else there + int(length)
        with archive.open("ab" if there else "wb") as file:
            while part := answer.read(_PART):
                file.write(part)
                there += len(part)
                if progress is not None:
                    progress(whole, there)
    if whole is not None and there < whole:
        msg = f"{url}: the connection ended after {there} of {whole} bytes; try again to go on"
        raise OSError(msg)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _unpack(archive: Path, target: Path) -> None:
    """Unpack next to the target, then rename."""
    waiting = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [one for one in packed.infolist() if not one.is_dir()]
            for member in members:
                _check_stays(archive, member)
            for member in members:
                place = waiting / member.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as source, place.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
        inner = waiting / target.name
        _check_folder(archive, inner)
        inner.rename(target)
    except FileFormatError:
        archive.unlink()
        raise
    except _DAMAGES as error:
        if isinstance(error, OSError) and error.errno not in (None, *_CLASHES):
            raise  # the disk, not the archive
        archive.unlink()
        raise FileFormatError(archive, f"a damaged archive ({error}); fetch it again") from error
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def _check_folder(archive: Path, folder: Path) -> None:
    if not folder.is_dir():
        raise FileFormatError(archive, f"the archive holds no folder {folder.name!r}")


def _check_stays(archive: Path, member: zipfile.ZipInfo) -> None:
    """Raise FileFormatError for a member that would be written outside the folder, or is a link."""
    name = member.filename
    path = PurePosixPath(name)
    leaves = path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name
    if leaves or stat.S_ISLNK(member.external_attr >> 16):
        problem = f"the member {name!r} would leave the folder; nothing was unpacked"
        raise FileFormatError(archive, problem)
