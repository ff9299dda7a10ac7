"""File systems of fsspec, as Arrow calls them."""

import getpass
import os
from datetime import datetime
from importlib import import_module
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow.fs import FileInfo, FSSpecHandler, PyFileSystem  # type: ignore[import-untyped]

MODIFIED = ("mtime", "modificationTime", "LastModified", "last_modified", "updated", "modified")
"""What the file systems of fsspec call the time at which a file was last written to."""


def filesystem_at(address: str) -> tuple[Any, str]:
    """Arrow's file system for an address, and the path there; ValueError if nobody knows it.

    Its settings are those of fsspec: files in its configuration folder, and ``FSSPEC_…`` variables.
    """
    scheme = address.partition("://")[0]
    core, config = import_module("fsspec.core"), import_module("fsspec.config")
    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if scheme == "webhdfs" and "user" not in config.conf.get(scheme, {}):
        options["user"] = hadoop_user()
    made, path = core.url_to_fs(address, **options)
    return PyFileSystem(Handler(made)), path


def hadoop_user() -> str:
    """Whom Hadoop takes us for, unless it asks for a proof: Spark writes by the same name."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


class Handler(FSSpecHandler):  # type: ignore[misc]
    """Arrow's own, with the times of files, and without questions that the next call answers."""

    @staticmethod
    def _create_file_info(path: str, info: dict[str, Any]) -> Any:
        found = FSSpecHandler._create_file_info(path, {**info, "mtime": None})
        return FileInfo(path, found.type, size=found.size, mtime=modified(info))

    def delete_file(self, path: str) -> None:
        """Deletes a file; one that is not there is deleted."""
        self.fs.rm_file(path)

    def open_input_file(self, path: str) -> Any:
        """Opens a file that is there."""
        return pa.PythonFile(self.fs.open(path, mode="rb"), mode="r")


def modified(info: dict[str, Any]) -> float | None:
    """When a file was last written to, in seconds.

    >>> modified({"modificationTime": 1500}), modified({"mtime": 2.5}), modified({})
    (1.5, 2.5, None)
    >>> modified({"LastModified": datetime.fromisoformat("1970-01-01T00:00:03+00:00")})
    3.0
    """
    for name in MODIFIED:
        found = info.get(name)
        if isinstance(found, str):
            found = datetime.fromisoformat(found)
        if isinstance(found, datetime):
            return found.timestamp()
        if isinstance(found, int | float):
            return found / 1000 if name == "modificationTime" else float(found)
    return None
