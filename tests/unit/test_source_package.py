"""The source package has all that its own tests and pages need, and every kind of test its row."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", "scripts")


def test_everything_is_in_the_source_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    files = [*ROOT.glob("*.md"), *ROOT.glob("*.lock"), ROOT / "Makefile", ROOT / "LICENSE"]
    missing = {f"/{name}" for name in (*FOLDERS, *(file.name for file in files))} - set(included)
    assert not missing


def test_every_folder_of_tests_is_described() -> None:
    page = (ROOT / "tests" / "README.md").read_text("utf-8")
    folders = [folder for folder in (ROOT / "tests").iterdir() if any(folder.glob("**/test_*.py"))]
    assert folders
    for folder in folders:
        assert f"| `{folder.name}/` |" in page
