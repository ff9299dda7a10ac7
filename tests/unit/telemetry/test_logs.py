"""Logs in JSON: one object a line, with the fields of an event beside the words."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from tests.web.scripted import NOON, progress, rollback

from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import ProcessorId
from falkirk.runtime.listening import Checkpointed
from falkirk.telemetry import LogListener
from falkirk.telemetry.logs import log_as_json


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    found, ours = io.StringIO(), logging.getLogger("falkirk")
    level, handler = ours.level, log_as_json(logging.DEBUG, found)
    yield found
    logging.getLogger().removeHandler(handler)
    ours.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_happens_is_logged_with_its_fields(stream: io.StringIO) -> None:
    listener = LogListener()
    listener.started("storefront")
    listener.checkpointed(Checkpointed(ProcessorId("totals"), TotalFrontier((4,)), 10, 99, 0.25))
    listener.rolled_back(rollback(1, NOON))
    listener.caught_up(rollback(1, NOON), 2.5)
    listener.ended(RuntimeError("gone"))
    begun, saved, back, up, ended = lines(stream)
    assert (begun["event"], begun["level"]) == ("started", "info")
    assert saved["frontier"] == {"total": [4]}
    assert (saved["level"], saved["bytes"]) == ("debug", 99)
    assert (back["level"], back["kind"]) == ("warning", "lost-executor")
    assert back["failed"] == ["rank", "similar"]
    assert back["reasons"]["enrich"] == [rollback(1, NOON).reasons["enrich"][0].because]
    assert up["seconds"] == 2.5
    assert (ended["level"], ended["error"]) == ("error", "RuntimeError: gone")
    assert all(line["flow"] == "storefront" for line in lines(stream))


def test_progress_is_there_for_debugging(stream: io.StringIO) -> None:
    listener = LogListener()
    listener.started("storefront")
    listener.progressed(progress(3, 10))
    told = lines(stream)[1]["progress"]
    assert told["processors"]["clicks"]["completed"] == {"total": [10]}
    assert told["edges"]["again→rank"]["projection"] == "feedback"


def test_other_logs_are_json_too_and_errors_have_their_trace(stream: io.StringIO) -> None:
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("elsewhere").exception("it went %s", "wrong")
    (line,) = lines(stream)
    assert (line["logger"], line["message"]) == ("elsewhere", "it went wrong")
    assert "ValueError: no" in line["error"]
