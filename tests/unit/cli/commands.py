"""`falkirk solve` as a process, and the same without one: Python starts slower than it solves."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from falkirk.cli.main import main

Done = subprocess.CompletedProcess[bytes]

COMMAND = Path(sys.executable).parent / "falkirk"


def started(*arguments: str | bytes, text: str | bytes = b"", **environment: str) -> Done:
    """The real command, in a process of its own."""
    return subprocess.run(
        [COMMAND, "solve", *arguments],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def run(*arguments: str | bytes, text: str | bytes = b"", encoding: str = "utf-8") -> Done:
    """The command in this process, with streams like those that Python opens when it starts."""
    given = io.BytesIO(text.encode() if isinstance(text, str) else text)
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["falkirk", "solve", *map(os.fsdecode, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding, errors="backslashreplace"))
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        code = ended.value.code
        return Done(sys.argv, code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())
