"""What the tests have openssl do; where it is missing they are skipped, but never in CI."""

import subprocess

from tests.servers.lacking import lacking


def openssl(*words: object) -> None:
    """Calls it."""
    command = ["openssl", *map(str, words)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    except FileNotFoundError as error:
        lacking("openssl", error)
