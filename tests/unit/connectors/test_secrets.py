"""What connectors are given to come in is nowhere to be seen: in no store, and by no command."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import DataSource
from tests.unit.cli.stories import Story, falkirk

import falkirk as fk
from falkirk.connectors.kafka import KafkaSink, KafkaSource

SECRET = "hush-hush"
LOGIN = {
    "kafka.security.protocol": "SASL_SSL",
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.username": "me",
    "kafka.sasl.password": SECRET,
}


class Guarded(DataSource):
    """A source and a sink that want to know a secret."""


def ends() -> dict[str, tuple[Any, Any]]:
    """A source and a sink of every system that asks for a secret."""
    shop = f"postgresql://me:{SECRET}@db.example/shop?sslpassword={SECRET}"
    maria = f"mysql://me:{SECRET}@db.example/shop"
    server = fk.HttpRequests("n BIGINT", token=SECRET)
    return {
        "table": (fk.TableSource(shop, "t"), fk.TableSink(shop, "u")),
        "queue": (fk.QueueSource(maria, "q"), fk.TableSink(maria, "v", mode="upsert", key="n")),
        "kafka": (
            KafkaSource("host:1", "t", options=LOGIN, client={"ssl.key.pem": SECRET}),
            KafkaSink("host:1", "u", options=LOGIN),
        ),
        "http": (server, server.answers()),
        "python": (
            fk.PythonSource(Guarded, {"key": SECRET}),
            fk.PythonSink(Guarded, {"k": SECRET}),
        ),
        "files": (
            fk.Files("in", "csv", "n BIGINT", {"fs.s3a.secret.key": SECRET}),
            fk.FileSink("out", "csv", options={"fs.s3a.secret.key": SECRET}),
        ),
    }


def guarded() -> fk.Dataflow:
    """A flow with all of them."""
    flow = fk.Dataflow("guarded")
    for name, (source, sink) in ends().items():
        flow.read(source, name=name).write(sink, name=f"{name}-out")
    return flow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the flow has a past; it is only looked at."""
    place = tmp_path_factory.mktemp("guarded") / "state"
    Story(guarded(), place).epochs(3).stop()
    return place


def test_a_flow_shows_none() -> None:
    flow = guarded()
    shown = [flow.explain(), repr(flow), repr(flow.nodes), repr(flow.build())]
    assert "db.example" in "".join(shown)
    assert not [text for text in shown if SECRET in text]


def test_a_store_has_none(store: Path) -> None:
    files = [path for path in store.rglob("*") if path.is_file()]
    assert any(b"kafka-out" in path.read_bytes() for path in files)
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("status", "--json"),
        ("explain", "kafka-out"),
        ("what-if", "--fail", "table"),
        ("gc", "--dry-run"),
    ],
    ids=" ".join,
)
def test_no_command_tells_one(store: Path, command: tuple[str, ...]) -> None:
    told = falkirk(*command, "--store", str(store))
    assert told.exit_code == 0, told.output
    if command[-1] == "--json":
        assert {"kafka", "kafka-out"} <= {p["name"] for p in json.loads(told.output)["processors"]}
    assert SECRET not in told.output
