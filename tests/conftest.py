"""Settings that every suite shares.

Hypothesis runs with the profile that FALKIRK_HYPOTHESIS names: `check` (few examples, for
`make check`), `ci` (the default) or `long`. A failing example is printed with the line that
replays it.
"""

import os

from hypothesis import settings

# No JVM here lives long enough to gain from Java's second compiler; commands inherit this, too.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")

pytest_plugins = ["tests.servers.fixtures", "tests.web.fixtures"]

settings.register_profile("check", max_examples=25, deadline=None, print_blob=True)
settings.register_profile("ci", max_examples=200, deadline=None, print_blob=True)
settings.register_profile("long", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("FALKIRK_HYPOTHESIS", "ci"))
