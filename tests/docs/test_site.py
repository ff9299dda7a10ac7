"""The documentation can be built as a site, without a warning and without anything from outside."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.docs.markdown import ROOT

pytestmark = pytest.mark.slow


def test_the_site_builds_strictly_and_works_offline(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert {page.name for page in pages} >= {"index.html", "tutorial.html", "api.html"}
    reference = (tmp_path / "reference" / "api.html").read_text("utf-8")
    assert "join_latest" in reference, "what docstrings say is there"
    quoted = [
        page.name for page in pages if "<blockquote>\n<blockquote>" in page.read_text("utf-8")
    ]
    assert quoted == [], "an example in a docstring is code, and no quotation in a quotation"
    dead = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page in pages
        if page.name != "404.html"  # it may be shown anywhere, so its links begin at the root
        for link in re.findall(r'<a [^>]*href="([^"#?:]+)(?:#[^"]*)?"', page.read_text("utf-8"))
        if not (page.parent / unquote(link)).exists()
    ]
    assert dead == []
    fetched = [
        found
        for page in pages
        for found in re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', page.read_text("utf-8")
        )
    ]
    assert fetched == [], "a page needs nothing that is not beside it"
