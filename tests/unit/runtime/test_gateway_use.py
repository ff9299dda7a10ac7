"""The JVM gateway and RDDs stay in one module, so that everything else works on Spark Connect.

The one exception is a sink: Delta's kernel is a Java library, and a session by Connect is refused.
"""

import re
from pathlib import Path

import falkirk

SOURCE = Path(falkirk.__file__).parent
GATEWAY = re.compile(r"_jdf|_jsc|_jvm|_sc\b|\.rdd\b|sparkContext")
ALLOWED = {"runtime/classic.py", "connectors/delta/kernel.py"}


def test_only_one_module_and_a_java_library_go_through_the_gateway() -> None:
    users = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if GATEWAY.search(path.read_text())
    }
    assert users == ALLOWED
