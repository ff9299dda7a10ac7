"""``falkirk ui`` and the options of ``falkirk run`` that have it watched."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.unit.cli.stories import Make, falkirk

from falkirk.cli.watched import watched
from falkirk.core.errors import ConfigurationError, StoreError
from falkirk.telemetry import PrometheusListener
from falkirk.web.feed import Feed


@pytest.mark.slow
def test_it_serves_a_store_until_it_is_told_to_stop(story: Make, tmp_path: Path) -> None:
    story().epochs(3).stop()
    command = [sys.executable, "-m", "falkirk", "ui", "--store", "state", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("dashboard: ").strip()
            with urlopen(f"{address}api/state") as answer:
                found = json.load(answer)
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert found["graph"]["flow"] == "shop"
    assert found["live"] is False
    assert found["processors"]["totals"]["watermark"] == ["nothing", -1]


def test_a_store_that_is_not_there_is_told_at_once() -> None:
    result = falkirk("ui", "--store", "nowhere")
    assert isinstance(result.exception, StoreError)
    assert "there is no store" in str(result.exception)


def test_nothing_is_heard_that_was_not_asked_for(tmp_path: Path) -> None:
    with watched(str(tmp_path), verbose=False) as listeners:
        assert listeners == []


def test_a_run_can_be_watched_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "state")
    with watched(place, verbose=False, ui=True, ui_port=0, metrics_port=0) as listeners:
        assert [type(each) for each in listeners] == [PrometheusListener, Feed]
        told = dict(line.split(": ") for line in capsys.readouterr().err.splitlines())
        for each in listeners:
            each.started("shop")
        for address in (told["metrics"], f"{told['dashboard']}metrics"):
            with urlopen(address) as answer:
                assert b'falkirk_running{flow="shop"} 1.0' in answer.read()


def test_elsewhere_than_on_loopback_a_token_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def status(address: str, **headers: str) -> int:
        try:
            with urlopen(Request(address, headers=headers)) as answer:
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code

    for token in ("swordfish", None):
        monkeypatch.setenv("FALKIRK_UI_TOKEN", token or "")
        if token is None:
            monkeypatch.delenv("FALKIRK_UI_TOKEN")
        with watched(str(tmp_path), False, ui=True, ui_host="0.0.0.0", ui_port=0):
            base, _, made = capsys.readouterr().err.split(" ")[1].strip().partition("?token=")
            assert made == token if token else len(made) > 20
            here = base.replace("0.0.0.0", "127.0.0.1")
            assert status(here) == 401
            assert status(here, Authorization=f"Bearer {made}") == 200


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with watched(str(tmp_path), False, ui=True, ui_port=0):
        port = int(capsys.readouterr().err.strip().rstrip("/").rpartition(":")[2])
        with (
            pytest.raises(ConfigurationError, match="choose another port"),
            watched(str(tmp_path), False, ui=True, ui_port=port),
        ):
            pass


@pytest.mark.slow
def test_logs_in_json_are_asked_for(tmp_path: Path) -> None:
    options = "verbose=False, ui=True, ui_port=0, log_json=True"
    script = (
        "from falkirk.cli.watched import watched\n"
        f"with watched({str(tmp_path)!r}, {options}) as (metrics, listener, feed):\n"
        "    listener.started('shop')\n"
        "    listener.ended(None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    where, begun, ended = map(json.loads, done.stderr.splitlines())
    assert where["message"].startswith("dashboard: http://127.0.0.1:")
    assert (begun["event"], ended["event"]) == ("started", "ended")
