"""Finding the place that an address names.

Addresses are Hadoop's, for Spark uses them too. What else the driver needs, keys and endpoints,
comes from where the file system's own tools have it, and never from the address.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from falkirk.core.errors import StoreError
from falkirk.store.places.arrow import Arrow, told
from falkirk.store.places.posix import Posix
from falkirk.store.places.protocol import Place

S3 = ("s3a", "s3", "s3n")
ARROWS = ("gs", "abfs", "abfss", "hdfs", "viewfs")
"""What Arrow reaches by the address alone."""

FOLDERS = ("abfs", "abfss", "wasb", "wasbs")
"""Where the word before the @ is a container, and nobody's name."""


def reached(data: str, via: str | None = None) -> Place:
    """The place that Spark calls ``data``: a path, ``file://…``, or a file system that it reaches.

    The driver calls it ``via`` where it has another way there. It need not be there yet. Raises a
    StoreError if nobody here can talk to such a place.
    """
    address, base = via or data, data.rstrip("/")
    for each in (data, address):
        if "://" in each and set("?#") & set(each):
            raise StoreError(
                f"{redacted_place(each)} was given with options behind a question mark, which Spark"
                " does not know: give settings by the environment and by spark.hadoop.*"
            )
    scheme, found, _ = address.partition("://")
    if not found:
        return Posix(Path(address), base=base if via else None)
    if scheme == "file":
        return Posix(Path(unquote(urlsplit(address).path)), base=base)
    try:
        filesystem, root = _filesystem(scheme.lower(), address)
    except ImportError as error:
        raise StoreError(
            f"batches at {redacted_place(address)} need a package that is missing"
            f" ({told(error)}): pip install 'falkirk[fsspec]', and what fsspec needs for"
            f" {scheme}://"
        ) from error
    except Exception as error:
        raise StoreError(
            f"batches cannot be kept at {redacted_place(address)}: {told(error)}; {advice(scheme)}"
        ) from error
    return Arrow(filesystem, root.rstrip("/"), base, redacted_place(address.rstrip("/")))


def _filesystem(scheme: str, address: str) -> tuple[Any, str]:
    """Arrow's file system for an address, and the path in it."""
    if scheme in S3:
        from pyarrow.fs import S3FileSystem  # type: ignore[import-untyped]

        # A small file is one request, if the file system may wait to see how large it becomes.
        options = {"allow_delayed_open": True, **s3_options(os.environ)}
        return S3FileSystem(**options), address.partition("://")[2]
    if scheme in ARROWS:
        from pyarrow.fs import FileSystem

        found: tuple[Any, str] = FileSystem.from_uri(address)
        return found
    from falkirk.store.places.fsspec import filesystem_at

    return filesystem_at(address)


def s3_options(environment: Mapping[str, str]) -> dict[str, Any]:
    """What Arrow is told of S3 beside the keys, which it finds as Amazon's own tools do.

    >>> s3_options({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_REGION": "eu-west-1"})
    {'endpoint_override': '127.0.0.1:9000', 'scheme': 'http', 'region': 'eu-west-1'}
    """
    options: dict[str, Any] = {}
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        scheme, _, host = endpoint.rpartition("://")
        options |= {"endpoint_override": host.rstrip("/"), "scheme": scheme or "https"}
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    return {**options, "region": region} if region else options


def advice(scheme: str) -> str:
    """What to do where a place cannot be talked to."""
    if scheme in ("hdfs", "viewfs"):
        return (
            "the driver needs Hadoop's libhdfs there (ARROW_LIBHDFS_DIR, HADOOP_HOME, CLASSPATH),"
            " or another way to the same folder: &via=webhdfs://NAMENODE:9870/…"
        )
    return "see whether it is up and what its settings are, or give a folder that all share"


def redacted_place(address: str) -> str:
    """An address without the name and the password of a user, and without options.

    >>> redacted_place("ftp://me:hush@host:21/batches?x=1"), redacted_place("/srv/batches")
    ('ftp://host:21/batches', '/srv/batches')
    >>> redacted_place("abfss://box@account.dfs.core.windows.net/batches")
    'abfss://box@account.dfs.core.windows.net/batches'
    """
    scheme, found, rest = address.partition("://")
    if not found:
        return address
    host, slash, path = rest.partition("/")
    user, _, bare = host.rpartition("@")
    if user and scheme in FOLDERS:
        bare = f"{user.partition(':')[0]}@{bare}"
    return re.split("[?#]", f"{scheme}://{bare}{slash}{path}")[0]
