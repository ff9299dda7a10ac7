"""Waiting for a master: it is said what for, and it ends."""

import logging
import socket

import pytest

from falkirk.core.errors import EngineError
from falkirk.runtime import reaching
from falkirk.runtime.reaching import master_trouble, trouble, wait_for


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little patience, and without proxies."""
    monkeypatch.setattr(reaching, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(reaching, "PAUSE_SECONDS", 0.05)
    for name in reaching.PROXIES:
        monkeypatch.delenv(name, raising=False)


def test_one_of_several_is_enough(listening: int, dead: int) -> None:
    assert trouble([("127.0.0.1", dead)]) == "Connection refused"
    assert trouble([("127.0.0.1", dead), ("127.0.0.1", listening)]) == ""
    assert trouble([]) == ""


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a..b", "x" * 300])
def test_a_host_that_is_none(host: str) -> None:
    assert trouble([(host, 7077)])


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_an_outage_in_a_bounded_time(
    scheme: str, dead: int, caplog: pytest.LogCaptureFixture
) -> None:
    master = f"{scheme}://127.0.0.1:{dead}"
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as ended:
        wait_for(master, "--master")
    assert f"waiting for {master}" in caplog.text
    assert f"--master: {master} does not answer: Connection refused" in str(ended.value)
    assert ended.value.passes


def test_one_that_comes_up_meanwhile_is_taken(
    dead: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun: list[socket.socket] = []

    def sleep(seconds: float) -> None:
        begun.append(socket.create_server(("127.0.0.1", dead)))

    monkeypatch.setattr(reaching.time, "sleep", sleep)
    wait_for(f"spark://127.0.0.1:{dead}")
    begun[0].close()
    assert len(caplog.records) == 1


def test_nobody_waits_for_what_has_no_address(listening: int) -> None:
    for master in ("local[2]", "yarn", "k8s://host:1", f"spark://127.0.0.1:{listening}"):
        wait_for(master)


def test_behind_a_proxy_only_grpc_can_tell(dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert master_trouble(f"sc://127.0.0.1:{dead}") == ""
    assert master_trouble(f"spark://127.0.0.1:{dead}") != ""


def test_a_token_is_not_shown(dead: int, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(EngineError) as ended:
        wait_for(f"sc://127.0.0.1:{dead}/;token=hush")
    assert "hush" not in caplog.text + str(ended.value)
