"""What the dashboard answers, without a browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.asking import Client
from tests.web.scripted import progress
from tests.web.stores import stopped

from falkirk.telemetry import PrometheusListener
from falkirk.web.answers import Answers
from falkirk.web.application import BODY_BYTES_MAX, application
from falkirk.web.feed import Feed


def client(place: str | None = None, metrics: PrometheusListener | None = None) -> Client:
    feed = Feed(place)
    if place is None:
        feed.started("storefront")
        feed.progressed(progress(3, 10))
    return Client(application(feed, Answers(place), metrics))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return client(stopped(tmp_path_factory.mktemp("web") / "state", 6))


def test_the_page_and_its_parts_are_there() -> None:
    served = client()
    page = served.get("/")
    assert "<title>falkirk</title>" in page.text
    for part in ("app.js", "base.css", "icon.svg"):
        assert served.get(f"/static/{part}").status_code == 200
    assert served.get("/static/../application.py").status_code == 404


def test_the_state_is_what_the_feed_knows() -> None:
    found = client().get("/api/state").json()
    assert found["graph"]["flow"] == "storefront"
    assert found["processors"]["clicks"]["completed"] == ["epoch 10", 10]
    assert found["edges"]["orders→totals"] == [0, 24]


def test_metrics_come_from_a_run() -> None:
    assert client().get("/metrics").status_code == 404
    metrics = PrometheusListener()
    metrics.started("storefront")
    answer = client(metrics=metrics).get("/metrics")
    assert 'falkirk_running{flow="storefront"} 1.0' in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


def test_a_store_in_memory_cannot_be_asked() -> None:
    answer = client().get("/api/storage")
    assert answer.status_code == 400
    assert "in memory" in answer.json()["error"]
    assert answer.json()["code"] == "FK400"


def test_what_if(stored: Client) -> None:
    answer = stored.post("/api/what-if", json={"failed": ["totals"]}).json()
    assert answer["failed"] == ["totals"]
    refused = stored.post("/api/what-if", json={"failed": ["totls"]})
    assert refused.status_code == 400
    assert "did you mean 'totals'?" in refused.json()["error"]


def test_explain(stored: Client) -> None:
    found = stored.get("/api/explain/ledger").json()
    assert found["held"] is True
    assert found["roots"] == ["totals"]
    assert found["choices"][0]["time"] == "start"


@pytest.mark.parametrize(
    "body", ["", "no", "[]", "1", '{"failed": 7}', '{"failed": [{"a": 1}]}', "\x00"]
)
def test_nonsense_is_answered_not_obeyed(stored: Client, body: str) -> None:
    for place in ("/api/what-if", "/api/repair/plan", "/api/repair/apply"):
        answer = stored.post(place, content=body)
        assert answer.status_code in (200, 400)
        assert answer.status_code == 400 or place == "/api/what-if"


def test_too_much_is_refused(stored: Client) -> None:
    answer = stored.post("/api/what-if", content=b" " * (BODY_BYTES_MAX + 1))
    assert answer.status_code == 413


def test_a_plan_runs_only_when_it_is_confirmed(tmp_path: Path) -> None:
    served = client(stopped(tmp_path / "state"))
    plan = served.post("/api/repair/plan", json={"to": ["totals@4"]}).json()
    assert json.loads(plan["text"])["to"] == {"totals": "epoch 4"}

    def apply(**asked: Any) -> Any:
        given = {"id": plan["id"], "confirm": "storefront", "reason": "bad prices"}
        return served.post("/api/repair/apply", json=given | asked)

    assert "type 'storefront'" in apply(confirm="yes").json()["error"]
    assert "say why" in apply(reason=" ").json()["error"]
    assert "not known here" in apply(id="other").json()["error"]
    assert apply().json()["done"] is True
    assert "not known here" in apply().json()["error"], "it runs once"


def test_a_plan_that_is_stale_is_a_conflict(tmp_path: Path) -> None:
    served = client(stopped(tmp_path / "state"))
    plans = [
        served.post("/api/repair/plan", json={"to": [to]}).json() for to in ("totals@4", "visits@5")
    ]
    codes = [
        served.post(
            "/api/repair/apply",
            json={"id": plan["id"], "confirm": "storefront", "reason": "bad prices"},
        ).status_code
        for plan in plans
    ]
    assert codes == [200, 409]
