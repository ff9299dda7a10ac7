"""A user's file with a mistake in it: one line that names the line, and no stack trace of ours."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.stories import falkirk

from falkirk.core.errors import ConfigurationError, ConnectorError, DefinitionError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nflow = (\n", "app.py:2: SyntaxError"),
        ("import nowhere\n", "app.py:1: ModuleNotFoundError: No module named 'nowhere'"),
        ("def f():\n    return 1 / 0\n\nf()\n", "app.py:2: ZeroDivisionError"),
        ("import json\n\njson.loads('{')\n", "app.py:3: JSONDecodeError"),
        ("from helper import x\n", "helper.py:2: NameError"),
        ("import falkirk as fk\nflow = fk.Dataflow('')\n", "app.py:2: a flow has a name"),
        ("import falkirk as fk\nflow = fk.Dataflow('f')\nflow.red()\n", "app.py:3: AttributeError"),
        ("import falkirk as fk\nfk.lazy(every=0)\n", "[FK100] app.py:2: a checkpoint every 0"),
        (
            "import falkirk as fk\nfk.batch().setting_aside()\n",
            "[FK100] app.py:2: batch saves no state of its own",
        ),
    ],
)
def test_the_line_is_the_users(text: str, told: str) -> None:
    Path("app.py").write_text(text)
    Path("helper.py").write_text("# one line\nx = y\n")
    sys.modules.pop("helper", None)
    result = falkirk("check", "app.py")
    assert isinstance(result.exception, DefinitionError), result.output
    assert told in str(result.exception)


def test_every_error_of_ours_has_the_line_too() -> None:
    text = "import falkirk as fk\n\nfk.KafkaSource('host:9092', 'topic', reader='nobody')\n"
    Path("app.py").write_text(text)
    result = falkirk("check", "app.py")
    assert isinstance(result.exception, ConnectorError)
    assert str(result.exception).startswith("[FK700] app.py:3: reader is one of spark, python")


@pytest.mark.parametrize("command", ["check", "run"])
def test_an_app_does_not_see_our_arguments(command: str) -> None:
    Path("app.py").write_text("import sys\nraise ValueError(sys.argv)\n")
    before = list(sys.argv)
    result = falkirk(command, "app.py")
    assert "ValueError: ['app.py'] in" in str(result.exception)
    assert sys.argv == before


def test_the_line_itself_is_shown() -> None:
    Path("app.py").write_text("import nowhere\n")
    result = falkirk("check", "app.py")
    assert "in `import nowhere`" in str(result.exception)


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        ("x = 1\n", (), "no flow"),
        ("import falkirk as fk\na, b = fk.Dataflow('a'), fk.Dataflow('b')\n", (), "--flow"),
        (
            "import falkirk as fk\na, b = fk.Dataflow('aa'), fk.Dataflow('bb')\n",
            ("--flow", "ab"),
            "no flow 'ab'",
        ),
    ],
)
def test_the_flow_must_be_found(text: str, arguments: tuple[str, ...], told: str) -> None:
    Path("app.py").write_text(text)
    result = falkirk("check", "app.py", *arguments)
    assert isinstance(result.exception, ConfigurationError)
    assert told in str(result.exception)


def test_a_file_that_is_not_there() -> None:
    result = falkirk("check", "nowhere.py")
    assert isinstance(result.exception, ConfigurationError)
    assert "there is no file nowhere.py" in str(result.exception)


@pytest.mark.parametrize("trace", [False, True])
def test_a_stack_trace_only_if_asked(tmp_path: Path, trace: bool) -> None:
    Path("app.py").write_text("import nowhere\n")
    done = subprocess.run(
        [sys.executable, "-m", "falkirk", "check", "app.py"],
        env={"PYTHONPATH": ":".join(sys.path), **({"FALKIRK_TRACEBACK": "1"} if trace else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("Traceback" in done.stderr) is trace
    if not trace:
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_an_outage_has_a_status_of_its_own(tmp_path: Path) -> None:
    """A supervisor can tell what may pass by itself from what somebody has to mend."""
    store = f"postgresql://nobody@/nothing?host={tmp_path}&data={tmp_path}"
    done = subprocess.run(
        [sys.executable, "-m", "falkirk", "status", "--store", store],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "FK410" in done.stderr
