"""Where in the user's code something was written, for messages that lead there."""

import contextlib
import os
import sys
from pathlib import Path

from falkirk.core.errors import DefinitionError

OURS = (str(Path(__file__).parents[1]) + os.sep, contextlib.__file__)
"""Where falkirk's own code is, and what stands between it and a user's ``with``."""


def user_location() -> str:
    """``file:line`` of the innermost caller that is not a part of falkirk."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame = frame.f_back
    return f"{readable(frame.f_code.co_filename)}:{frame.f_lineno}"


def readable(path: str) -> str:
    """``path`` as a person would name it: relative, if it lies below the working folder."""
    folder = os.getcwd() + os.sep
    return path[len(folder) :] if path.startswith(folder) else path


def refusal(message: str, location: str | None = None) -> DefinitionError:
    """The error for what cannot work, beginning with the place where it was written."""
    return DefinitionError(f"{location or user_location()}: {message}")
