"""``falkirk.toml``, the environment and flags: who wins, and what is refused."""

from pathlib import Path

import pytest
from tests.docs.markdown import ROOT

from falkirk.cli.settings import TABLES, VARIABLES, settings
from falkirk.core.errors import ConfigurationError


def write(text: str, folder: str = ".") -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "falkirk.toml").write_text(text)


def test_flags_win_over_the_environment_which_wins_over_the_file() -> None:
    write('store = "of-file"\nmaster = "local[1]"\nflow = "of-file"')
    found = settings(
        environment={"FALKIRK_STORE": "of-environment", "FALKIRK_MASTER": "local[2]"},
        master="local[3]",
    )
    assert (found.flow, found.store, found.master) == ("of-file", "of-environment", "local[3]")


def test_paths_in_the_file_are_relative_to_it() -> None:
    write('app = "app.py"\nstore = "state"', "project")
    found = settings("project/other.py", environment={})
    assert found.store == "project/state"
    assert str(found.app) == "project/other.py"
    assert str(settings(environment={"FALKIRK_CONFIG": "project/falkirk.toml"}).app) == (
        "project/app.py"
    )


@pytest.mark.parametrize("store", ["postgresql://me@host/db?data=x", "memory:"])
def test_an_address_is_not_a_path(store: str) -> None:
    write(f'store = "{store}"', "project")
    assert settings("project/app.py", environment={}).store == store


def test_without_a_file_there_is_nothing() -> None:
    found = settings(environment={})
    assert (found.file, found.app, found.store) == (None, None, None)
    for missing in (found.the_app, found.the_store):
        with pytest.raises(ConfigurationError, match=r"falkirk\.toml"):
            missing()


def test_settings_of_spark_and_options_of_the_run() -> None:
    write(
        '[spark]\n"spark.driver.memory" = "1g"\n"spark.ui.enabled" = true\n'
        "[options]\nepochs_ahead = 2\npoll_seconds = 1\n"
    )
    found = settings(environment={"FALKIRK_MONITOR": "external"})
    assert found.spark == {"spark.driver.memory": "1g", "spark.ui.enabled": "true"}
    options = found.the_options()
    assert (options.epochs_ahead, options.poll_seconds, options.monitor) == (2, 1, "external")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('stroe = "x"', "did you mean 'store'?"),
        ("[options]\nepoch_ahead = 1", "did you mean 'epochs_ahead'?"),
        ('[options]\nepochs_ahead = "1"', "must be a whole number"),
        ("[options]\nepochs_ahead = true", "must be a whole number"),
        ("store = 1", "must be a text"),
        ("spark = 1", "must be a table"),
        ("[spark]\nx = [1]", "a text or a number"),
        ("store = ", "is not TOML"),
    ],
)
def test_whatever_is_wrong_is_named_with_its_file(text: str, complaint: str) -> None:
    write(text)
    with pytest.raises(ConfigurationError) as caught:
        settings(environment={})
    assert complaint in str(caught.value)
    assert "falkirk.toml" in str(caught.value)


def test_a_file_that_is_named_must_be_there() -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.toml cannot be read"):
        settings(environment={"FALKIRK_CONFIG": "gone.toml"})


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    for name in (*VARIABLES, *TABLES, *VARIABLES.values(), "FALKIRK_CONFIG", "FALKIRK_TRACEBACK"):
        assert f"`{name}`" in page or f"`[{name}]`" in page, name
