"""What `import falkirk` gives is what `__all__` says, and it needs no Spark."""

import ast
import sys
from pathlib import Path

import pytest

import falkirk
import falkirk.dataflow


@pytest.mark.parametrize("package", [falkirk, falkirk.dataflow])
def test_all_is_sorted_and_complete(package: object) -> None:
    listed = package.__all__  # type: ignore[attr-defined]
    assert sorted(listed) == sorted(set(listed))
    for name in listed:
        assert hasattr(package, name)


SOURCES = sorted(Path(falkirk.dataflow.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_descriptions_import_falkirk_and_the_standard_library_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            package = name.split(".")[0]
            assert package == "falkirk" or package in sys.stdlib_module_names, name
