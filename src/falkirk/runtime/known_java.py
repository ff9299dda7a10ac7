"""Remembers which Javas fit, so that none is started only to be asked, time and again.

A Java is known by its own file: where it is, how large and how old. A script that stands for one of
several is not remembered, for it may choose another the next time. Whatever goes wrong here costs
the asking and nothing else.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def recall(java: Path, folder: Path) -> Path | None:
    """The home of a Java that fitted when it was asked, if it is still the same file."""
    with suppress(OSError):
        home = Path(entry(java, folder).read_text(encoding="utf-8"))
        if is_own(java, home):
            return home
    return None


def remember(java: Path, home: Path, folder: Path) -> None:
    """Notes that ``java`` fits, and where its home is."""
    with suppress(OSError):
        if is_own(java, home):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix=".java-")
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(str(home))
            os.replace(unfinished, entry(java, folder))


def is_own(java: Path, home: Path) -> bool:
    """Whether ``java`` is the program in ``home``, and no script that has chosen it."""
    return java.resolve(strict=True) == (home / "bin" / "java").resolve()


def entry(java: Path, folder: Path) -> Path:
    """Where it is noted that exactly this file fits."""
    file = java.resolve(strict=True)
    found = file.stat()
    digest = hashlib.sha256(f"{file} {found.st_size} {found.st_mtime_ns}".encode()).hexdigest()
    return folder / f"java-fits-{digest[:16]}"
