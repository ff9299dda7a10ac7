"""The documentation is complete and its links lead somewhere."""

import inspect
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.docs.markdown import PAGES, ROOT, anchors, links

from falkirk.core import errors

CORE = ROOT / "src" / "falkirk" / "core"


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_local_link_resolves(page: Path) -> None:
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / parts.path).resolve() if parts.path else page
        assert target.exists(), f"{name(page)} links to {link}, which is not there"
        assert target.is_relative_to(ROOT), f"{name(page)} links to {link}, outside the project"
        if parts.fragment:
            assert parts.fragment in anchors(target), f"{name(page)} links to {link}: no heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    found, pending = {index}, [index]
    while pending:
        page = pending.pop()
        for link in links(page):
            parts = urlsplit(link)
            target = (page.parent / parts.path).resolve()
            if not parts.scheme and target.suffix == ".md" and target not in found:
                found.add(target)
                pending.append(target)
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} <= found


def test_every_module_of_the_core_is_described() -> None:
    """A package inside the core may be described as a whole, as in ``machine/``."""
    described = "".join(
        (ROOT / page).read_text("utf-8") for page in ("ARCHITECTURE.md", "docs/paper-map.md")
    )
    modules = [path for path in CORE.rglob("*.py") if path.name != "__init__.py"]
    assert modules
    for path in modules:
        module = path.relative_to(CORE)
        names = [f"`{'/'.join(module.parts[:i])}/`" for i in range(1, len(module.parts))]
        names += [f"`{module.as_posix()}`", f"`{module.with_suffix('').as_posix()}`"]
        assert any(each in described for each in names), f"{module} is described nowhere"


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.FalkirkError)
    ]
    assert kinds
    for kind in kinds:
        assert f"`{kind.code}`" in page, f"{kind.__name__} ({kind.code}) is not documented"
        assert f"`{kind.__name__}`" in page


def test_every_core_word_of_the_paper_is_in_the_glossary() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    for word in (
        "processor",
        "edge",
        "event",
        "time",
        "domain",
        "frontier",
        "projection",
        "image",
        "checkpoint",
        "notification",
        "notification frontier",
        "low-watermark",
        "log",
    ):
        assert f"**{word}**" in glossary


def test_every_module_and_test_in_the_paper_map_is_there() -> None:
    page = (ROOT / "docs" / "paper-map.md").read_text("utf-8")
    named = re.findall(r"`((?:paper|unit|properties|simulation)/[\w/]+\.py)`", page)
    assert named
    for path in named:
        assert (ROOT / "tests" / path).exists(), f"the paper map names tests/{path}"
    for module in re.findall(r"`(machine/\w+)`", page):
        assert (CORE / f"{module}.py").exists(), f"the paper map names {module}"


def test_every_engine_test_of_the_paper_is_in_the_paper_map() -> None:
    page = (ROOT / "docs" / "paper-map.md").read_text("utf-8")
    for path in sorted((ROOT / "tests" / "paper").glob("test_engine_*.py")):
        assert f"`paper/{path.name}`" in page, f"{path.name} is in no row of the paper map"
