"""Where a command finds what it needs: flags win over the environment, which wins over a file.

The file is ``falkirk.toml``, beside the app or in the working folder. Paths in it are relative to
it. A key that nobody knows is an error, for it would otherwise do nothing, silently.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.inspection.nearest import nearest
from falkirk.runtime.options import Options

FILE = "falkirk.toml"
VARIABLES = {
    name: f"FALKIRK_{name.upper()}" for name in ("app", "flow", "store", "master", "monitor")
}
"""The settings that the environment can give, and the variables that do."""

TABLES = ("spark", "options")
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""How people call the types that an option can have."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a command; ``file`` is where it comes from, if there is one.

    ``origins`` says where each setting, and each of Spark's, was written.
    """

    app: Path | None = None
    flow: str | None = None
    store: str | None = None
    master: str | None = None
    monitor: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)

    def the_app(self) -> Path:
        """The app, which must be given somewhere."""
        if self.app is None:
            raise ConfigurationError(missing("app", "APP"))
        return self.app

    def the_store(self) -> str:
        """The store, which must be given somewhere."""
        if not self.store:
            raise ConfigurationError(missing("store", "--store"))
        return self.store

    def the_options(self) -> Options:
        """How the flow is driven."""
        monitor = {} if self.monitor is None else {"monitor": self.monitor}
        return Options(**{**self.options, **monitor})


def missing(name: str, flag: str) -> str:
    """The complaint about a setting that is nowhere."""
    return (
        f"no {name} is given: write {flag}, set {VARIABLES[name]}, or put `{name} = …` into {FILE}"
    )


def settings(
    app: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    **flags: str | None,
) -> Settings:
    """What holds for a command that was given ``app`` and ``flags`` in ``folder``."""
    here = folder or Path()
    named = environment.get("FALKIRK_CONFIG")
    beside = Path(app).parent if app is not None else here
    file = (
        Path(named)
        if named
        else next((p for p in (beside / FILE, here / FILE) if p.is_file()), None)
    )
    found = read_file(file) if file else {}
    origins = dict.fromkeys(found, str(file))
    origins |= dict.fromkeys(found.get("spark", {}), f"{file} [spark]")
    for name, variable in VARIABLES.items():
        if environment.get(variable):
            found[name], origins[name] = environment[variable], variable
    found |= {name: value for name, value in flags.items() if value is not None}
    origins |= {name: f"--{name}" for name, value in flags.items() if value is not None}
    if app is not None:
        found["app"] = app
    if "app" in found:
        found["app"] = Path(found["app"])
    return Settings(**found, file=file, origins=origins)


def read_file(path: Path) -> dict[str, Any]:
    """The settings in a file; whatever is wrong with it is named with its place."""
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not TOML: {error}") from None
    known = [*VARIABLES, *TABLES]
    for key, value in given.items():
        if key not in known:
            raise ConfigurationError(f"{path}: there is no setting {key!r}{nearest(key, known)}")
        wanted = dict if key in TABLES else str
        if not isinstance(value, wanted):
            kind = "a table" if wanted is dict else "a text"
            raise ConfigurationError(f"{path}: {key} is {value!r}, and must be {kind}")
    given["spark"] = {k: plain(path, k, v) for k, v in flat(given.get("spark", {})).items()}
    given["options"] = checked_options(path, given.get("options", {}))
    for key in ("app", "store"):
        if key in given and "://" not in given[key] and given[key] != "memory:":
            given[key] = str(path.parent / given[key])
    return given


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Spark's settings with their full names, however they are nested.

    >>> flat({"spark": {"ui": {"enabled": True}}, "spark.master.rest": 1})
    {'spark.ui.enabled': True, 'spark.master.rest': 1}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def plain(path: Path, key: str, value: Any) -> str:
    """A setting of Spark as Spark takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ConfigurationError(f"{path}: [spark] {key} is {value!r}, and must be a text or a number")


def checked_options(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run, each of the type that it must have."""
    known = {each.name: type(each.default) for each in fields(Options)}
    for key, value in given.items():
        if key not in known:
            raise ConfigurationError(f"{path}: there is no option {key!r}{nearest(key, known)}")
        wanted = (int, float) if known[key] is float else (known[key],)
        if not isinstance(value, wanted) or isinstance(value, bool) is not (known[key] is bool):
            raise ConfigurationError(
                f"{path}: [options] {key} is {value!r}, and must be {KINDS[known[key]]}"
            )
    return dict(given)
