"""Download of BEIR's public archives: resume, compare the checksum, unpack atomically."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import re
import shutil
import stat
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from beir_eval.core.atomic_writes import open_without_links, try_lock, write_all, write_errors
from beir_eval.core.files import as_path
from beir_eval.datasets.catalogue import info_of
from beir_eval.errors import FileFormatError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

#: How the addresses begin that are requested.
SCHEMES = ("http://", "https://")
#: Bytes that are read from the server at a time.
_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60
#: The header of a part: its first and last byte, and the size of the whole if it is known.
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
#: The header of an answer to a range beyond the end: the size of the whole.
_UNSATISFIED_RANGE = re.compile(r"bytes \*/([0-9]{1,18})")
#: Error codes for members that are listed twice, both as a file and as a folder, whose names are
#: too long for the file system, or which would begin before the archive's first byte.
_MEMBER_ERRNOS = (
    errno.EEXIST,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.EINVAL,
)
#: What an archive may unpack to: text shrinks to a tenth at best, an archive that is made to fill
#: the disk to a thousandth. BEIR's largest data set has some 60 files.
_MOST_MEMBERS = 10_000
_LARGEST_RATIO = 100
_SMALL_BYTES = 1 << 30
#: How often a partial download is opened that others create or remove at the same time.
_OPEN_ATTEMPTS = 10


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
    the file ``<name>.….zip.part``; the next one resumes from it, if the server can send parts. A
    link of that name, or a file of another user, is removed instead. The checksum is compared
    before anything is unpacked. The folder appears only when it is complete.

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
            is not the name of a folder (on Windows too), or the address is not http or https. Also
            if another process is downloading the archive to this folder.
        InputError: ``folder`` is neither text nor a path, or contains a zero byte.
        FileFormatError: the checksum differs, or the archive is damaged, lacks the folder, has a
            member that is a link or could be written outside the folder, has more than 10,000
            members, or unpacks to more than 1 GiB and more than 100 times its size.
        OSError: the server cannot be reached, redirects to something else than http or https, or
            sends another part than the one requested; or a file cannot be written.
    """
    parent = as_path(folder, "the folder")
    if url is None:
        info = info_of(name)
        if info.url is None:
            msg = f"{name} is not public: request it from its owner ({info.licence})"
            raise SettingError(msg)
        name, url, md5 = info.name, info.url, info.md5
    elif PurePosixPath(name).name != name or name in ("", "..") or _has_unsafe_sign(name):
        msg = f"name must be the name of a folder, not {name!r}"
        raise SettingError(msg)
    if not url.startswith(SCHEMES):
        msg = f"url must begin with http:// or https://, not {url!r}"
        raise SettingError(msg)
    target = parent / name
    # The name depends on the address: the partial download of another archive is not resumed.
    source = hashlib.sha256(url.encode()).hexdigest()[:8]
    archive = target.with_name(f"{name}.{source}.zip.part")
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _open_partial(archive) as file:
        # The lock of the file means that no other process unpacks this archive.
        _remove_unpacked_parts(archive, target)
        if not target.is_dir():  # or another process has just finished
            try:
                _fetch(url, file, archive, progress)
                _check_md5(url, file, archive, md5)
                _unpack(file, archive, target)
            except BaseException as error:
                # What was received is kept to resume from, unless it is wrong.
                if isinstance(error, FileFormatError) or not os.fstat(file.fileno()).st_size:
                    _remove(file, archive)
                raise
        _remove(file, archive)
    return target


def _open_partial(archive: Path) -> IO[bytes]:
    """Open the partial download, or create it, and lock it.

    Its name is known beforehand, so another user could have put a file or a link there. A link, and
    a file of another user or with another name, is removed.

    Raises:
        SettingError: another process has locked it.
        OSError: it cannot be opened or created.
    """
    for _ in range(_OPEN_ATTEMPTS):
        try:
            file = open_without_links(archive, "x+b", buffering=0)
        except FileExistsError:
            try:
                file = open_without_links(archive, "r+b", buffering=0)
            except FileNotFoundError:
                continue
            except OSError:
                if not archive.is_symlink():
                    raise
                archive.unlink(missing_ok=True)
                continue
            if not _is_own_file(file):
                file.close()
                archive.unlink(missing_ok=True)
                continue
        if not try_lock(file):
            file.close()
            msg = (
                f"another process is at work on {archive}; wait for it, or download to another "
                "folder"
            )
            raise SettingError(msg)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # the process that had the lock has removed the file
    msg = "other processes create and remove the file all the time"
    raise FileExistsError(errno.EEXIST, msg, str(archive))


def _is_own_file(file: IO[bytes]) -> bool:
    """Return whether an open file is a regular one of this user, with a single name."""
    status = os.fstat(file.fileno())
    is_of_this_user = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1 and is_of_this_user


def _remove(file: IO[bytes], archive: Path) -> None:
    """Remove the partial download, before its lock ends if the platform allows that."""
    if os.name == "nt":
        file.close()
    archive.unlink(missing_ok=True)


def _unpacked_prefix(archive: Path) -> str:
    """Return the beginning of the names of temporary folders in which an archive is unpacked."""
    return f".{archive.name.removesuffix('zip.part')}"


def _remove_unpacked_parts(archive: Path, target: Path) -> None:
    """Remove the temporary folders of killed processes that were unpacking this archive."""
    prefix = _unpacked_prefix(archive)
    for path in target.parent.iterdir():
        if path.name.startswith(prefix) and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def _request(url: str, start: int) -> http.client.HTTPResponse | None:
    """Return the server's answer to a request for the bytes from ``start`` on.

    None if the archive is complete: it has no byte there.

    Raises:
        OSError: the server cannot be reached, or answers with an error.
    """
    headers = {"Range": f"bytes={start}-"} if start else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http, checked above
    try:
        response: http.client.HTTPResponse = urllib.request.build_opener(HttpRedirects).open(
            request, timeout=_TIMEOUT_SECONDS
        )
    except urllib.error.HTTPError as error:
        if start and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            size = _UNSATISFIED_RANGE.fullmatch(error.headers.get("Content-Range", ""))
            # Beyond the end of a smaller archive: this one is another, to be fetched anew.
            return None if size is None or int(size[1]) == start else _request(url, 0)
        msg = f"{url} cannot be fetched: {error.code} {error.reason}"
        raise OSError(msg) from error
    if start and response.status == HTTPStatus.PARTIAL_CONTENT:
        part = _part_of(response)
        if part is None or part[0] != start:
            response.close()
            return _request(url, 0)
    return response


def _part_of(response: http.client.HTTPResponse) -> tuple[int, int, int | None] | None:
    """Return the first byte of a part, the byte behind it, and the size of the whole.

    The size is None if the server does not know it. None if there is no valid Content-Range.
    """
    header = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    if header is None:
        return None
    start, end = int(header[1]), int(header[2]) + 1
    size = None if header[3] == "*" else int(header[3])
    return (start, end, size) if start < end and (size is None or end <= size) else None


def _fetch(
    url: str,
    file: IO[bytes],
    archive: Path,
    progress: Callable[[int | None, int], None] | None,
) -> None:
    """Download the archive; resume if a part of it exists.

    Args:
        url: its address.
        file: the partial download, open and unbuffered.
        archive: the path of ``file``, for messages.
        progress: called with (size or None, bytes received) after each chunk.

    Raises:
        OSError: the server answers with an error or with another part, the connection ends early,
            or the file cannot be written.
    """
    start = file.seek(0, os.SEEK_END)
    with _server_errors(url):
        response = _request(url, start)
    if response is not None:
        _receive(url, response, file, archive, progress)


@contextmanager
def _server_errors(url: str) -> Iterator[None]:
    """Raise OSError for an invalid address or answer; errors of ``progress`` do not belong here."""
    try:
        yield
    except (http.client.HTTPException, ValueError) as error:
        msg = f"{url} cannot be fetched: {error!r}"
        raise OSError(msg) from error


def _chunks(url: str, response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield what the server sends, or raise OSError."""
    with _server_errors(url):
        while chunk := response.read(_CHUNK_BYTES):
            yield chunk


def _receive(
    url: str,
    response: http.client.HTTPResponse,
    file: IO[bytes],
    archive: Path,
    progress: Callable[[int | None, int], None] | None,
) -> None:
    """Write what the server sends to the file, as ``_fetch``."""
    with response:
        received, size = 0, None  # the server sends the archive from the start
        length = response.headers.get("Content-Length")
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            part = _part_of(response)
            if part is None or part[0] not in (0, file.tell()):
                content_range = response.headers.get("Content-Range")
                msg = f"{url}: the server sent another part than requested: {content_range!r}"
                raise OSError(msg)
            received, end, size = part
            size = end if size is None else size
        elif length is not None:
            with _server_errors(url):
                size = int(length)
        file.seek(received)
        file.truncate()
        for chunk in _chunks(url, response):
            with write_errors(archive):
                write_all(file, chunk)
            received += len(chunk)
            if progress is not None:
                progress(size, received)
    if size is not None and received > size:
        msg = f"{url}: the server sent {received} bytes of an archive of {size}; try again"
        raise OSError(msg)
    if size is not None and received < size:
        msg = (
            f"{url}: the connection ended after {received} of {size} bytes; run it again to resume"
        )
        raise OSError(msg)


def _check_md5(url: str, file: IO[bytes], archive: Path, md5: str | None) -> None:
    """Raise FileFormatError if a checksum is expected and that of the file differs."""
    if md5 is None:
        return
    file.seek(0)
    # The file is unbuffered and open for reading, as file_digest needs it.
    digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()  # type: ignore[arg-type]
    if digest != md5.lower():
        problem = f"the archive from {url} has the MD5 {digest}, expected {md5}; fetch it again"
        raise FileFormatError(archive, problem)


def _unpack(file: IO[bytes], archive: Path, target: Path) -> None:
    """Unpack the archive into a temporary folder beside ``target``, then rename it to ``target``.

    Args:
        file: the archive, open.
        archive: its path, for messages and for the name of the temporary folder.
        target: the folder to create.

    Raises:
        FileFormatError: the archive is damaged or unsafe.
        OSError: a file cannot be written.
    """
    temporary = target.with_name(f"{_unpacked_prefix(archive)}{os.urandom(16).hex()}")
    temporary.mkdir(mode=0o700)
    try:
        _extract_files(file, archive, temporary)
        unpacked = temporary / target.name
        if not unpacked.is_dir():
            raise FileFormatError(archive, f"the archive holds no folder {unpacked.name!r}")
        unpacked.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _extract_files(file: IO[bytes], archive: Path, folder: Path) -> None:
    """Unpack all members of the archive into a folder, and wait until they are on the disk.

    Raises:
        FileFormatError: the archive is damaged or unsafe.
        OSError: a file cannot be written.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            entries = packed.infolist()
            _check_size(archive, entries)
            members = [entry for entry in entries if not entry.filename.endswith("/")]
            for member in members:
                _check_member(archive, member)
            for member in members:
                path = folder / member.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as source, path.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
                    copy.flush()
                    os.fsync(copy.fileno())
    except (FileFormatError, MemoryError):
        raise
    except Exception as error:
        # zipfile raises errors of many classes for damaged and encrypted archives.
        if isinstance(error, OSError) and error.errno not in (None, *_MEMBER_ERRNOS):
            raise  # a fault of the disk, not of the archive
        raise FileFormatError(archive, f"a damaged archive ({error}); fetch it again") from error


def _check_size(archive: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Raise FileFormatError if the archive would unpack to too many files or bytes.

    No member unpacks to more bytes than its entry states.
    """
    if len(entries) > _MOST_MEMBERS:
        problem = f"the archive has {len(entries):,} members, more than {_MOST_MEMBERS:,}"
        raise FileFormatError(archive, f"{problem}; nothing was unpacked")
    num_bytes, size = sum(entry.file_size for entry in entries), archive.stat().st_size
    if num_bytes > _SMALL_BYTES and num_bytes > _LARGEST_RATIO * size:
        problem = (
            f"the archive of {size:,} bytes would unpack to {num_bytes:,} bytes, more than "
            f"{_LARGEST_RATIO} times as many; nothing was unpacked"
        )
        raise FileFormatError(archive, problem)


def _has_unsafe_sign(name: str) -> bool:
    r"""Return whether a name has a sign that separates folders or drives on Windows, or a zero."""
    return any(sign in name for sign in "\\:\0")


def _check_member(archive: Path, member: zipfile.ZipInfo) -> None:
    """Raise FileFormatError if a member would be written outside the folder or is a link."""
    name = member.filename
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or _has_unsafe_sign(name)
    if unsafe or stat.S_ISLNK(member.external_attr >> 16):
        problem = f"the member {name!r} would leave the folder; nothing was unpacked"
        raise FileFormatError(archive, problem)


class HttpRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only; by default ftp is followed too."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - the arguments of urllib
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request for the new address, as urllib defines it."""
        if not newurl.lower().startswith(SCHEMES):
            reason = f"redirected to {newurl!r}, which is neither http nor https"
            raise urllib.error.HTTPError(req.full_url, code, reason, headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)
