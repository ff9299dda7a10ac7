"""Real requests over loopback: every status that a client can get, and what comes with it."""

import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.connectors.http.running import running
from tests.servers.openssl import openssl

from falkirk.connectors.http import HttpRequests
from falkirk.core.errors import ConfigurationError, ConnectorError

SCHEMA = "n BIGINT NOT NULL, tag STRING"
TOKEN = "a-secret-of-the-tests"


def eventually(condition: Callable[[], Any]) -> None:
    """Waits until something holds that other threads will bring about."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.005)


def test_an_object_is_answered_by_an_object_and_a_list_by_a_list() -> None:
    server = HttpRequests(SCHEMA, path="/double")
    with running(server) as flow, httpx.Client() as client:
        answer = client.post(server.url, json={"n": 21})
        assert (answer.status_code, answer.json()) == (200, {"twice": 42})
        assert answer.headers["content-type"] == "application/json"
        assert client.post(server.url, json=[{"n": 1}]).json() == [{"twice": 2}]
        assert client.post(server.url, json=[{"n": 1}, {"n": -1}, {"n": 2}]).json() == [
            {"twice": 2},
            {"twice": 4},
        ]
    first = flow.epochs[0][0]
    name, _, attempt = first["_request"].rpartition(".")
    assert first == {"n": 21, "tag": None, "_request": f"{name}.1", "_key": name}
    assert attempt == "1"


def test_several_answer_rows_of_one_object_are_a_list() -> None:
    server = HttpRequests(SCHEMA)
    with running(server, lambda rows: [{"_request": r["_request"]} | r for r in rows * 2]):
        assert [row["n"] for row in httpx.post(server.url, json={"n": 1}).json()] == [1, 1]


def test_no_answer_is_no_content() -> None:
    server = HttpRequests(SCHEMA)
    with running(server):
        answer = httpx.post(server.url, json={"n": -1})
    assert (answer.status_code, answer.content) == (204, b"")


def test_an_answer_waits_for_its_acknowledgement() -> None:
    server = HttpRequests(SCHEMA)
    with running(server) as flow, ThreadPoolExecutor() as pool:
        flow.acknowledges.clear()
        answer = pool.submit(httpx.post, server.url, json={"n": 1}, timeout=20)
        eventually(lambda: flow.epochs and server.awaited)
        assert not answer.done()
        flow.acknowledges.set()
        assert answer.result().json() == {"twice": 2}


def test_at_once_it_does_not() -> None:
    server = HttpRequests(SCHEMA)
    with running(server, when="at once") as flow:
        flow.acknowledges.clear()
        assert httpx.post(server.url, json={"n": 1}).json() == {"twice": 2}


def test_those_who_wait_make_one_epoch() -> None:
    server = HttpRequests(SCHEMA, waiting_max=20)
    with running(server) as flow, ThreadPoolExecutor(20) as pool:
        flow.held.clear()
        posts = [pool.submit(httpx.post, server.url, json={"n": n}, timeout=20) for n in range(20)]
        eventually(lambda: len(server._desk._waiting) == 20)
        flow.held.set()
        assert [post.result().json() for post in posts] == [{"twice": 2 * n} for n in range(20)]
    assert [sorted(row["n"] for row in epoch) for epoch in flow.epochs] == [list(range(20))]


def test_a_full_queue_is_429_and_says_when_to_come_back() -> None:
    server = HttpRequests(SCHEMA, waiting_max=1)
    with running(server) as flow, ThreadPoolExecutor() as pool:
        flow.held.clear()
        first = pool.submit(httpx.post, server.url, json={"n": 1}, timeout=20)
        eventually(lambda: server._desk._waiting)
        refused = httpx.post(server.url, json={"n": 2})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        flow.held.set()
        assert first.result().status_code == 200
        assert httpx.post(server.url, json={"n": 2}).status_code == 200


def test_no_answer_in_time_is_504_and_a_retry_gets_what_came_later() -> None:
    server = HttpRequests(SCHEMA, timeout_seconds=0.2)
    key = {"Idempotency-Key": "k"}
    with running(server) as flow:
        flow.acknowledges.clear()
        late = httpx.post(server.url, json={"n": 1}, headers=key)
        assert (late.status_code, late.headers["retry-after"]) == (504, "1")
        assert "retry, with the same Idempotency-Key" in late.json()["error"]
        flow.acknowledges.set()
        eventually(lambda: not server.awaited)
        assert httpx.post(server.url, json={"n": 1}, headers=key).json() == {"twice": 2}
    assert len(flow.epochs) == 1


def test_what_nobody_waits_for_any_more_is_not_read() -> None:
    server = HttpRequests(SCHEMA, timeout_seconds=0.1)
    with running(server) as flow:
        flow.held.clear()
        assert httpx.post(server.url, json={"n": 1}).status_code == 504
        flow.held.set()
        assert httpx.post(server.url, json={"n": 2}).status_code == 200
    assert [[row["n"] for row in epoch] for epoch in flow.epochs] == [[2]]


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
def test_a_body_that_is_too_long_is_413(chunked: bool) -> None:
    server = HttpRequests(SCHEMA, body_bytes_max=100)
    body = b'{"n": 1, "tag": "' + b"x" * 100 + b'"}'
    with running(server):
        sent: Any = iter([body[:60], body[60:]]) if chunked else body
        refused = httpx.post(server.url, content=sent)
        assert refused.status_code == 413
        assert "at most 100 bytes" in refused.json()["error"]
        assert httpx.post(server.url, json={"n": 1}).status_code == 200


@pytest.mark.parametrize(
    ("body", "where", "error"),
    [
        (b"{", "line 1, column 2", "no JSON"),
        (b'[{"n": 1}, {"n": "x"}]', "[1].n", "is no BIGINT"),
        (b'{"tag": "x"}', "n", "missing"),
        (b'{"n": 1, "m": 2}', "m", "no such field"),
    ],
)
def test_a_body_that_does_not_fit_is_400_and_says_where(
    body: bytes, where: str, error: str
) -> None:
    server = HttpRequests(SCHEMA)
    with running(server) as flow:
        refused = httpx.post(server.url, content=body)
        assert refused.status_code == 400
        assert refused.json()["where"] == where
        assert error in refused.json()["error"]
    assert not flow.epochs


def test_a_key_that_is_too_long_is_400() -> None:
    server = HttpRequests(SCHEMA)
    with running(server):
        refused = httpx.post(server.url, json={"n": 1}, headers={"Idempotency-Key": "k" * 256})
    assert (refused.status_code, refused.json()["where"]) == (400, "Idempotency-Key")


def test_only_this_address_and_only_post() -> None:
    server = HttpRequests(SCHEMA, path="/double")
    with running(server):
        assert httpx.get(server.url).status_code == 405
        assert httpx.post(server.url + "r", json={"n": 1}).status_code == 404


@pytest.mark.parametrize("given", [None, f"Bearer not-{TOKEN}", f"Basic {TOKEN}", "Bearer", "ä"])
def test_without_the_token_it_is_401(given: str | None) -> None:
    server = HttpRequests(SCHEMA, token=TOKEN)
    headers = {} if given is None else {"Authorization": given.encode("latin-1")}
    with running(server) as flow:
        refused = httpx.post(server.url, json={"n": 1}, headers=headers)  # type: ignore[arg-type]
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        right = httpx.post(server.url, json={"n": 1}, headers={"Authorization": f"Bearer {TOKEN}"})
        assert right.status_code == 200
    assert len(flow.epochs) == 1
    assert TOKEN not in repr(server) + repr(server._service) + refused.text


def test_retries_with_one_key_are_processed_once() -> None:
    server = HttpRequests(SCHEMA)
    headers = {"Idempotency-Key": "order-7"}
    with running(server) as flow, ThreadPoolExecutor(5) as pool:
        flow.acknowledges.clear()
        posts = [
            pool.submit(httpx.post, server.url, json={"n": 7}, headers=headers, timeout=20)
            for _ in range(5)
        ]
        eventually(lambda: flow.epochs and len(server._desk.memory.going["order-7"].waiters) == 5)
        flow.acknowledges.set()
        assert [post.result().json() for post in posts] == [{"twice": 14}] * 5
        assert httpx.post(server.url, json={"n": 7}, headers=headers).json() == {"twice": 14}
        other = httpx.post(server.url, json={"n": 8}, headers=headers)
        assert (other.status_code, "another body" in other.text) == (422, True)
    assert [[(row["n"], row["_key"]) for row in epoch] for epoch in flow.epochs] == [
        [(7, "order-7")]
    ]


def test_stopping_is_503_for_what_was_not_read_and_an_answer_for_what_was() -> None:
    server = HttpRequests(SCHEMA)
    with running(server) as flow, ThreadPoolExecutor() as pool:
        flow.acknowledges.clear()
        read = pool.submit(httpx.post, server.url, json={"n": 1}, timeout=20)
        eventually(lambda: flow.epochs)
        waiting = pool.submit(httpx.post, server.url, json={"n": 2}, timeout=20)
        eventually(lambda: server._desk._waiting)
        server.stop()
        refused, new = waiting.result(), httpx.post(server.url, json={"n": 3})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert (new.status_code, "stopping" in new.text) == (503, True)
        flow.acknowledges.set()
        assert read.result().json() == {"twice": 2}


def test_closing_is_503_for_whoever_has_no_answer() -> None:
    server = HttpRequests(SCHEMA)
    server.listen(lambda: None)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(httpx.post, server.url, json={"n": 2}, timeout=20)
        eventually(lambda: server.latest(0, limit()) == 1)
        server.close()
        assert waiting.result().status_code == 503
    with pytest.raises(ConnectorError, match="no port is open"):
        _ = server.url


def limit() -> Any:
    from falkirk.dataflow.connecting import UNLIMITED

    return UNLIMITED


def test_it_can_be_run_again_and_leaves_no_thread() -> None:
    before = threading.active_count()
    server = HttpRequests(SCHEMA)
    for n in range(2):
        with running(server):
            assert httpx.post(server.url, json={"n": n}).json() == {"twice": 2 * n}
    assert threading.active_count() == before


def test_a_port_that_is_taken_is_told() -> None:
    server = HttpRequests(SCHEMA)
    with running(server):
        other = HttpRequests(SCHEMA, port=server._serving.port)  # type: ignore[union-attr]
        with pytest.raises(ConnectorError, match="Choose another port"):
            other.listen(lambda: None)
        other.close()


def certified(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that vouches for itself, and its key."""
    key, certificate = folder / f"{name}-key.pem", folder / f"{name}.pem"
    made = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    openssl(*made.split(), *names, "-keyout", key, "-out", certificate)
    return certificate, key


def test_tls(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path, "server")
    trusted = ssl.create_default_context(cafile=certificate)
    server = HttpRequests(SCHEMA, certificate=certificate, private_key=key)
    with running(server):
        assert server.url.startswith("https://127.0.0.1:")
        assert httpx.post(server.url, json={"n": 1}, verify=trusted).json() == {"twice": 2}
    missing = HttpRequests(SCHEMA, certificate=tmp_path / "none", private_key=key)
    with pytest.raises(ConnectorError, match="certificate"):
        missing.listen(lambda: None)


def test_clients_can_be_made_to_show_a_certificate(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path, "server")
    authority, own_key = certified(tmp_path, "client")
    server = HttpRequests(
        SCHEMA, certificate=certificate, private_key=key, client_authority=authority
    )
    shown = {"its own": (authority, own_key), "another": (certificate, key), "none": None}
    with running(server):
        for name, pair in shown.items():
            context = ssl.create_default_context(cafile=certificate)
            if pair is not None:
                context.load_cert_chain(*pair)
            if name == "its own":
                assert httpx.post(server.url, json={"n": 1}, verify=context).json() == {"twice": 2}
                continue
            with pytest.raises(httpx.TransportError):
                httpx.post(server.url, json={"n": 1}, verify=context)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"host": "0.0.0.0"}, "give a token="),
        ({"host": "example.org"}, "give a token="),
        ({"path": "query"}, "begin with a slash"),
        ({"token": " blank"}, "ASCII"),
        ({"certificate": "a.pem"}, "both"),
        ({"client_authority": "a.pem"}, "over TLS only"),
        ({"waiting_max": 0}, "no request would be taken"),
    ],
)
def test_what_cannot_be_served_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        HttpRequests(SCHEMA, **given)


def test_one_way_to_answer() -> None:
    server = HttpRequests(SCHEMA)
    server.answers("at once")
    with pytest.raises(ConfigurationError, match="already"):
        server.answers()
    with pytest.raises(ConfigurationError, match="not 'later'"):
        server.answers("later")  # type: ignore[arg-type]
