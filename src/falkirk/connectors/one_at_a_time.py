"""A decision about a file that only one at a time can make, whichever process it is in."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO

LOCKLESS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""What a file system says that has no locks."""

_here = Lock()


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Holds the file at ``path``, which is made if it is missing and may be replaced meanwhile.

    Nobody is held up by a process that has died. Where the file system has no locks, only those of
    one process wait for each other.
    """
    with _here, _held(path):  # on NFS a file's lock is the process's, and not a thread's
        yield


def _held(path: Path) -> IO[bytes]:
    """The file that is at ``path``, open and locked."""
    while True:
        file = path.open("ab")
        try:
            _lock(file)
            if _is_at(path, file):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # it was replaced while we waited, and others hold the one that is there


def _lock(file: IO[bytes]) -> None:
    from fcntl import LOCK_EX, flock

    try:
        flock(file, LOCK_EX)
    except OSError as error:
        if error.errno not in LOCKLESS:
            raise


def _is_at(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
