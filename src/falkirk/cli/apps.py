"""Finding the flow in a user's Python file; a mistake in it is told by its line, not by ours."""

import os
import re
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from falkirk.core.errors import ConfigurationError, DefinitionError, FalkirkError
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.location import OURS, readable
from falkirk.inspection.nearest import nearest

LOCATED = re.compile(r".+?\.py:\d+: ")
"""How a message begins that names its line."""


def chosen_flow(app: Path, name: str | None) -> Dataflow:
    """The flow that ``app`` defines; with several, the one called ``name``."""
    if not app.is_file():
        raise ConfigurationError(f"there is no file {app}: name the Python file with the flow")
    sys.path.insert(0, str(app.parent.resolve()))
    found: dict[str, Dataflow] = {}
    for value in load(app).values():
        if isinstance(value, Dataflow):
            found[value.name] = value
    if name is not None and name not in found:
        raise ConfigurationError(f"{app} has no flow {name!r}{nearest(name, found)}")
    if name is None and len(found) != 1:
        raise ConfigurationError(
            f"{app} has {listed(found)}: "
            + ("say which by --flow" if found else "give a fk.Dataflow a name at module level")
        )
    return found[name] if name is not None else next(iter(found.values()))


@contextmanager
def as_script(app: Path) -> Iterator[None]:
    """Inside, the arguments of the process are those of a script: ours are none of the app's."""
    before, sys.argv = sys.argv, [str(app)]
    try:
        yield
    finally:
        sys.argv = before


def load(app: Path) -> dict[str, Any]:
    """Runs the file as a module; what stands under ``if __name__ == "__main__"`` is left out."""
    try:
        with as_script(app):
            return runpy.run_path(str(app), run_name="__falkirk__")
    except FalkirkError as error:
        raise located(app, error) from error.__cause__
    except SyntaxError as error:
        where = readable(os.path.abspath(error.filename or str(app)))
        if error.lineno is not None:
            where += f":{error.lineno}"
        line = f" in `{error.text.strip()}`" if error.text else ""
        raise DefinitionError(f"{where}: {type(error).__name__}: {error.msg}{line}") from error
    except SystemExit as error:
        ended = SystemExit("it ends the process while it is read: put that under `if __name__`")
        raise DefinitionError(told(app, ended.with_traceback(error.__traceback__))) from error
    except Exception as error:
        raise DefinitionError(told(app, error)) from error


def located(app: Path, error: FalkirkError) -> FalkirkError:
    """The error with the user's line before it, if it does not begin with one."""
    if error.args and not LOCATED.match(str(error.args[0])):
        where, _ = place(app, error)
        error.args = (f"{where}: {error.args[0]}", *error.args[1:])
    return error


def told(app: Path, error: BaseException) -> str:
    """What went wrong, beginning with the innermost line that is the user's own."""
    where, line = place(app, error)
    shown = f" in `{line}`" if line else ""
    return f"{where}: {type(error).__name__}: {error}{shown}"


def place(app: Path, error: BaseException) -> tuple[str, str | None]:
    """The innermost place of an error that is the user's own, and what is written there."""
    frames = traceback.extract_tb(error.__traceback__)
    library = f"{os.sep}site-packages{os.sep}"
    own = [
        frame
        for frame in frames
        if not frame.filename.startswith((*OURS, "<"))
        and library not in frame.filename
        and Path(frame.filename).is_file()
        and not frame.filename.startswith(os.path.dirname(os.__file__))
    ]
    if not own:
        return str(app), None
    last = own[-1]
    return f"{readable(os.path.abspath(last.filename))}:{last.lineno}", last.line


def listed(found: dict[str, Dataflow]) -> str:
    """The names of flows, in words."""
    return ", ".join(f"a flow {name!r}" for name in found) or "no flow"
