"""Where batches can be: what an address means, and what is told where it means nothing."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.fs as pa_fs
import pytest

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store import open_store
from falkirk.store.files import Files
from falkirk.store.places import Posix, UnreachableError, reached
from falkirk.store.places.arrow import Arrow
from falkirk.store.redaction import redacted, scrubbed

TABLE = pa.table({"n": [1, 2, 3]})


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as writing and reading one object takes; it remembers who asked for what."""

    protocol_version = "HTTP/1.1"
    asked: list[tuple[str, str, str]]
    objects: dict[str, bytes]

    def answer(self, status: int, content: bytes = b"", size: int | None = None) -> None:
        """Notes the request and answers it."""
        key = re.search(r"Credential=(\w+)/", self.headers.get("Authorization", ""))
        self.asked.append((self.command, self.path, key[1] if key else ""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if size is None else size))
        self.send_header("Last-Modified", "Thu, 01 Jan 1970 00:00:05 GMT")
        self.send_header("ETag", '"0"')
        self.end_headers()
        self.wfile.write(content)

    def do_HEAD(self) -> None:
        """Whether an object is there."""
        found = self.objects.get(self.path)
        self.answer(404 if found is None else 200, size=len(found or b""))

    def do_GET(self) -> None:
        """An object."""
        self.answer(206, self.objects[self.path])

    def do_PUT(self) -> None:
        """Writes an object."""
        if "Content-Length" in self.headers:
            content = self.rfile.read(int(self.headers["Content-Length"]))
        else:
            content = together(self.rfile)
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            content = together(BytesIO(content))
        self.objects[self.path.partition("?")[0]] = content
        self.answer(200)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def together(sent: IO[bytes]) -> bytes:
    """A content that was sent in pieces, each behind its length."""
    found = b""
    while size := int(sent.readline().partition(b";")[0], 16):
        found += sent.read(size)
        sent.readline()
    while sent.readline().strip():
        pass
    return found


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Bucket]]:
    """A server that the usual variables lead to."""
    kind = type("Bucket", (Bucket,), {"asked": [], "objects": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "itsme")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    yield kind
    server.shutdown()
    thread.join()
    server.server_close()


def test_s3_is_found_by_the_usual_variables(bucket: type[Bucket]) -> None:
    place = reached("s3a://shop/batches/")
    files = Files(place)
    reference = files.write(TABLE)
    assert list(bucket.objects) == [f"/shop/batches/{reference.name}"]
    assert files.read(reference).equals(TABLE)
    assert place.modified(reference.name) == 5.0
    assert files.path(reference) == f"s3a://shop/batches/{reference.name}"
    assert {key for _, _, key in bucket.asked} == {"itsme"}


@pytest.fixture
def far(tmp_path: Path) -> Arrow:
    """A place that answers by Arrow's file systems, and is a folder all the same."""
    return Arrow(pa_fs.LocalFileSystem(), str(tmp_path), "far://host/batches", "far://host/batches")


def test_too_little_content_is_no_answer(far: Arrow, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that breaks off, or sends its error as a file, has not damaged anything."""
    files = Files(far)
    reference = files.write(TABLE)
    monkeypatch.setattr(far, "size", lambda name: reference.size + 1)
    with pytest.raises(StoreOutageError, match=r"cannot reach far://host/batches/\w+\.parquet"):
        files.read(reference)


def test_whatever_a_file_system_raises_is_an_outage(far: Arrow) -> None:
    class Odd:
        """A file system with an exception of its own."""

        def get_file_info(self, path: str) -> None:
            raise LookupError(f"no answer for http://host{path}?token=hush")

    far.filesystem = Odd()
    with pytest.raises(UnreachableError, match=r"no answer for http://host/\S+$"):
        far.size("batch")
    with pytest.raises(StoreOutageError):
        Files(far).names()


def test_a_crash_in_a_far_place_leaves_what_its_age_gives_away(far: Arrow, tmp_path: Path) -> None:
    files = Files(far)
    (tmp_path / "torn.parquet").write_bytes(b"half")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "part-0.parquet").write_bytes(b"half")
    since = far.clock(0.0)
    assert files.names() == ["folder", "torn.parquet"]  # and no mark of ours
    assert far.sizes() == {"folder": 4, "torn.parquet": 4}
    assert all(files.ripe(name, since + 1) for name in files.names())
    assert not any(files.ripe(name, since - 60) for name in files.names())


@pytest.mark.parametrize("given", ["file://{}", "{}"])
def test_a_folder_by_path_or_address(tmp_path: Path, given: str) -> None:
    data = given.format(tmp_path / "batches")
    store = open_store(f"sqlite:///{tmp_path}/state?data={data}")
    store.acquire()
    reference = store.files.write(TABLE)
    assert (tmp_path / "batches" / reference.name).is_file()
    assert store.files.path(reference) == f"{data}/{reference.name}"
    assert {path.name for path in (tmp_path / "state").iterdir()} >= {"metadata.sqlite"}
    assert not (tmp_path / "state" / "data").exists()
    store.close()


def test_the_driver_may_have_another_way(tmp_path: Path) -> None:
    place = reached("s3a://shop/batches/", str(tmp_path))
    assert isinstance(place, Posix)
    assert (place.folder, place.address("x")) == (tmp_path, "s3a://shop/batches/x")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("s3a://shop/batches?endpoint_override=x", "behind a question mark"),
        ("hdfs://127.0.0.1:1/batches", "via=webhdfs"),
        ("unheard-of://me:hush@host/batches", "unheard-of://host/batches"),
    ],
)
def test_what_cannot_be_reached_is_told(
    data: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARROW_LIBHDFS_DIR", "/nowhere")
    with pytest.raises(StoreError) as caught:
        reached(data)
    assert words in str(caught.value)
    assert "hush" not in str(caught.value)


def test_secrets_of_places_are_not_shown() -> None:
    address = "postgresql://me:one@db/shop?data=ftp://you:two2@host/x&via=ftp://you:three@host/x"
    assert redacted(address) == "postgresql://db/shop?data=ftp://host/x&via=ftp://host/x"
    assert scrubbed("one, two2 and three", address) == "***, *** and ***"
