"""Only a complete and valid archive is unpacked; an interrupted download is resumed."""

import hashlib
import io
import os
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from beir_eval.datasets import download_dataset
from beir_eval.errors import FileFormatError, SettingError


def zip_of(members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


ARCHIVE = zip_of({"tiny/corpus.jsonl": "x" * 300_000, "tiny/qrels/test.tsv": "q\td\t1\n"})


class Server(ThreadingHTTPServer):
    """Serves one archive; can cut the connection or ignore ranges."""

    content = ARCHIVE
    cut_after = None
    knows_ranges = True
    content_range = None
    redirect = None

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requested_ranges = []
        self.url = f"http://127.0.0.1:{self.server_port}/tiny.zip"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, requested_range = self.server, self.headers.get("Range")
        server.requested_ranges.append(requested_range)
        begin = int(requested_range[6:-1]) if requested_range and server.knows_ranges else 0
        if server.redirect and self.path == "/tiny.zip":
            self.send_response(302)
            self.send_header("Location", server.redirect)
            self.end_headers()
        elif self.path not in ("/tiny.zip", "/moved.zip"):
            self.send_error(404)
        elif begin >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.end_headers()
        else:
            size = len(server.content)
            remaining = server.content[begin:]
            self.send_response(206 if begin else 200)
            if begin and server.content_range != "":
                content_range = server.content_range or f"bytes {begin}-{size - 1}/{size}"
                self.send_header("Content-Range", content_range)
            self.send_header("Content-Length", str(len(remaining)))
            self.end_headers()
            self.wfile.write(
                remaining if server.cut_after is None else remaining[: server.cut_after]
            )

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def partial_file(server, folder):
    """Return the path of the partial download."""
    source = hashlib.sha256(server.url.encode()).hexdigest()[:8]
    return folder / f"tiny.{source}.zip.part"


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def fetch(server, folder, **options):
    return download_dataset("tiny", folder, url=server.url, **options)


def assert_complete(folder):
    assert (folder / "tiny/corpus.jsonl").read_text() == "x" * 300_000
    assert sorted(path.name for path in folder.iterdir()) == ["tiny"]


def test_an_archive_is_fetched_checked_and_unpacked(tmp_path, server):
    reports = []
    target = fetch(
        server,
        tmp_path,
        md5=md5(ARCHIVE),
        progress=lambda size, received: reports.append((size, received)),
    )
    assert target == tmp_path / "tiny"
    assert_complete(tmp_path)
    assert reports[-1] == (len(ARCHIVE), len(ARCHIVE))
    assert fetch(server, tmp_path) == target
    assert server.requested_ranges == [None]


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_an_interrupted_download_is_resumed(tmp_path, server, knows_ranges):
    server.cut_after, server.knows_ranges = 100_000, knows_ranges
    for _ in range(2):
        with pytest.raises(OSError, match="the connection ended after"):
            fetch(server, tmp_path)
        assert not (tmp_path / "tiny").exists()
    server.cut_after = None
    fetch(server, tmp_path, md5=md5(ARCHIVE))
    assert_complete(tmp_path)
    if knows_ranges:
        assert server.requested_ranges == [None, "bytes=100000-", "bytes=200000-"]


def test_an_archive_that_is_complete_is_not_fetched_again(tmp_path, server):
    partial_file(server, tmp_path).write_bytes(ARCHIVE)
    (tmp_path / "tiny.00000000.zip.part").write_bytes(b"another archive")
    fetch(server, tmp_path, md5=md5(ARCHIVE).upper())
    (tmp_path / "tiny.00000000.zip.part").unlink()
    assert_complete(tmp_path)
    assert server.requested_ranges == [f"bytes={len(ARCHIVE)}-"]  # from the end on: no byte is sent


def test_an_archive_with_another_checksum_is_refused_and_removed(tmp_path, server):
    with pytest.raises(FileFormatError, match=f"has the MD5 {md5(ARCHIVE)}, expected 0000"):
        fetch(server, tmp_path, md5="0000")
    assert list(tmp_path.iterdir()) == []


LINK = zipfile.ZipInfo("tiny/link")
LINK.external_attr = 0o120777 << 16


@pytest.mark.parametrize(
    "member", ["../evil", "tiny/../../evil", "/evil", "C:/evil", "tiny\\..\\..\\evil", LINK]
)
def test_an_archive_with_a_member_outside_the_folder_is_refused(tmp_path, server, member):
    server.content = zip_of({"tiny/corpus.jsonl": "x", member: "evil"})
    (tmp_path / "here").mkdir()
    with pytest.raises(FileFormatError, match="would leave the folder; nothing was unpacked"):
        fetch(server, tmp_path / "here")
    assert list((tmp_path / "here").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no archive", "a damaged archive"),
        (ARCHIVE[:-100], "a damaged archive"),
        (ARCHIVE.replace(b"x" * 100, b"y" * 100, 1), "a damaged archive"),
        (zip_of({"other/corpus.jsonl": "x"}), "holds no folder 'tiny'"),
        (zip_of({"tiny/a": "x", "tiny/a/b": "x"}), "a damaged archive"),
        # The directory is said to begin 100 bytes later, so members before the file's first byte.
        (
            ARCHIVE[:-6]
            + (int.from_bytes(ARCHIVE[-6:-2], "little") + 100).to_bytes(4, "little")
            + ARCHIVE[-2:],
            "a damaged archive",
        ),
        (zip_of({f"tiny/{'a' * 300}": "x"}), "a damaged archive"),
        (zip_of({"tiny/\xe9": "x"}).replace(b"\xc3\xa9", b"\xff\xff"), "a damaged archive"),
        (zip_of({f"tiny/{number}": "" for number in range(10_001)}), "has 10,001 members, more"),
    ],
    ids=range(9),
)
def test_an_archive_that_cannot_be_unpacked_leaves_no_folder(tmp_path, server, content, problem):
    server.content = content
    with pytest.raises(FileFormatError, match=problem):
        fetch(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_is_not_possible_is_refused_with_the_reason(tmp_path, server):
    with pytest.raises(OSError, match="cannot be fetched: 404"):
        download_dataset("tiny", tmp_path, url=server.url.replace("tiny", "nothing"))
    for name, options, problem in (
        ("robust04", {}, "not public"),
        ("scifat", {}, "did you mean scifact"),
        ("../tiny", {"url": server.url}, "must be the name of a folder"),
        ("tiny", {"url": "file:///etc/passwd"}, "must begin with http"),
    ):
        with pytest.raises(SettingError, match=problem):
            download_dataset(name, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="cannot be fetched"):
        download_dataset("tiny", tmp_path, url="http://a b/")


# Resuming


@pytest.mark.parametrize(
    "content_range",
    ["", "bytes 0-9/10", "bytes 99999-300000/300001", "bytes 100000-5/9", "items 100000-200000/*"],
)
def test_a_part_that_is_not_the_rest_is_not_appended(tmp_path, server, content_range):
    partial_file(server, tmp_path).write_bytes(ARCHIVE[:100_000])
    server.content_range = content_range
    fetch(server, tmp_path)
    assert_complete(tmp_path)
    assert server.requested_ranges == ["bytes=100000-", None]


def test_a_partial_download_longer_than_the_archive_is_fetched_anew(tmp_path, server):
    partial_file(server, tmp_path).write_bytes(b"x" * (len(ARCHIVE) + 1))
    fetch(server, tmp_path)
    assert_complete(tmp_path)
    assert server.requested_ranges == [f"bytes={len(ARCHIVE) + 1}-", None]


# Redirects


def test_a_redirect_to_http_is_followed(tmp_path, server):
    server.redirect = server.url.replace("tiny", "moved")
    fetch(server, tmp_path)
    assert_complete(tmp_path)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://127.0.0.1/tiny.zip", "neither http nor https"),
        ("FTP://127.0.0.1/x", "neither http nor https"),
        ("file:///etc/passwd", "not allowed"),
        ("data:,x", "not allowed"),
    ],
)
def test_a_redirect_to_something_else_than_http_is_refused(tmp_path, server, address, reason):
    server.redirect = address
    with pytest.raises(OSError, match=rf"cannot be fetched: 302 .*{reason}"):
        fetch(server, tmp_path)
    assert not (tmp_path / "tiny").exists()


# The partial file

unix_only = pytest.mark.skipif(os.name == "nt", reason="links and users of Unix")


@unix_only
@pytest.mark.parametrize("link", ["to a file", "to nothing", "hard"])
def test_a_download_never_writes_through_a_link(tmp_path, server, link):
    other = tmp_path / "other"
    folder = tmp_path / "datasets"
    folder.mkdir()
    if link != "to nothing":
        other.write_text("keep this")
    if link == "hard":
        partial_file(server, folder).hardlink_to(other)
    else:
        partial_file(server, folder).symlink_to(other)
    fetch(server, folder)
    assert_complete(folder)
    assert server.requested_ranges == [None]
    if link == "to nothing":
        assert not other.exists()
    else:
        assert other.read_text() == "keep this"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_partial_file_of_another_user_is_not_continued(tmp_path, server):
    partial = partial_file(server, tmp_path)
    partial.write_bytes(b"evil" * 1000)
    os.chown(partial, 12345, 12345)
    fetch(server, tmp_path)
    assert_complete(tmp_path)
    assert server.requested_ranges == [None]


def test_two_downloads_of_one_archive_do_not_disturb_each_other(tmp_path, server):
    def fetch_again(*_):
        with pytest.raises(SettingError, match="another process is at work on"):
            fetch(server, tmp_path)

    fetch(server, tmp_path, progress=fetch_again)
    assert_complete(tmp_path)


def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path, server):
    partial = partial_file(server, tmp_path)
    unpacked = tmp_path / f".{partial.name.removesuffix('zip.part')}{'a' * 32}"
    other = tmp_path / f".tiny.00000000.{'a' * 32}"
    for folder in (unpacked, other):
        (folder / "tiny").mkdir(parents=True)
    fetch(server, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny", other.name}
    assert server.requested_ranges == [None]


# Limits


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, server):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny/corpus.jsonl", "x" * 1000)
    entry = data.getvalue().index(b"PK\1\2") + 24  # the size that the directory states
    content = bytearray(data.getvalue())
    content[entry : entry + 4] = (2_000_000_000).to_bytes(4, "little")
    server.content = bytes(content)
    with pytest.raises(FileFormatError, match="would unpack to 2,000,000,000 bytes, more than 100"):
        fetch(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_progress_function_reaches_the_caller(tmp_path, server):
    def fail(*_):
        raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        download_dataset("tiny", tmp_path, url=server.url, progress=fail)
