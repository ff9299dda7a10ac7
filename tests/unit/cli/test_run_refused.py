"""What Spark cannot start with is told in a line, with where it was written, before all else."""

import logging
import socket
from pathlib import Path

import pytest
from tests.unit.cli.stories import falkirk

from falkirk.core.errors import ConfigurationError, EngineError
from falkirk.runtime import reaching

APP = "from tests.unit.cli.stories import shop\nflow = shop()\n"


@pytest.fixture(autouse=True)
def app() -> None:
    """An app with nothing wrong about it."""
    Path("app.py").write_text(APP)


def refused(*arguments: str, **environment: str) -> str:
    """Why a run is refused; nothing was begun by then."""
    result = falkirk("run", "app.py", "--store", "state", *arguments, **environment)
    assert isinstance(result.exception, ConfigurationError), (result.exception, result.output)
    assert not Path("state").exists()
    return str(result.exception)


def test_a_master_is_named_with_where_it_was_written() -> None:
    assert refused("--master", "loco[2]").startswith("[FK500] --master: 'loco[2]' is no master")
    assert "FALKIRK_MASTER: 'loco[2]'" in refused(FALKIRK_MASTER="loco[2]")
    Path("falkirk.toml").write_text('master = "loco[2]"')
    assert "falkirk.toml: 'loco[2]'" in refused()


def test_a_size_is_named_with_where_it_was_written() -> None:
    said = refused("--conf", "spark.driver.memory=lots")
    assert said.startswith("[FK500] --conf: spark.driver.memory is 'lots', and must be a size")
    Path("falkirk.toml").write_text('[spark]\n"spark.driver.memory" = "lots"')
    assert "falkirk.toml [spark]: spark.driver.memory is 'lots'" in refused()


def test_a_java_that_means_nothing() -> None:
    assert "FALKIRK_JAVA is 'foo', and can only be 'bundled'" in refused(FALKIRK_JAVA="foo")


def test_a_master_that_does_not_answer_is_waited_for_without_holding_the_store(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reaching, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(reaching, "PAUSE_SECONDS", 0.03)
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"spark://127.0.0.1:{server.getsockname()[1]}"
    with caplog.at_level(logging.WARNING):
        result = falkirk("run", "app.py", "--store", "state", "--master", master)
    assert isinstance(result.exception, EngineError)
    assert f"--master: {master} does not answer: Connection refused" in str(result.exception)
    assert f"waiting for {master}" in caplog.text
    assert not Path("state").exists()
