"""``falkirk init``: a project of one's own that runs."""

from importlib.resources import files
from pathlib import Path

import click

from falkirk.cli.common import json_option
from falkirk.cli.page import FAINT, GOOD, Page, as_json
from falkirk.core.errors import ConfigurationError

TEMPLATE = ".template"
PLACES = {
    "app.py": "app.py",
    "falkirk.toml": "falkirk.toml",
    "test_app.py": "test_app.py",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "orders-1.csv": "orders/1.csv",
    "orders-2.csv": "orders/2.csv",
    "orders-3.csv": "orders/3.csv",
}
"""The templates, and where each goes."""


@click.command(short_help="Make a small project that runs.")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@json_option
def init(folder: Path, wants_json: bool) -> None:
    """Make a small project in FOLDER: a flow, its settings, data, and a test with crashes.

    Files that are there already are never overwritten.
    """
    made = make_project(folder)
    if wants_json:
        as_json({"folder": str(folder), "made": [str(path) for path in made]})
        return
    with Page() as page:
        page.title(f"Made {folder if folder != Path() else 'a project here'}")
        for path in made:
            page.line(("✓ ", GOOD), str(path))
        page.heading("Next")
        if folder != Path():
            page.line(f"cd {folder}")
        page.line("falkirk check", ("        what the flow promises", FAINT))
        page.line(
            "falkirk run", ("          run it; kill it whenever you like, and run it again", FAINT)
        )
        page.line("falkirk status", ("       how it stands", FAINT))
        page.line("pytest", ("               crashes at seeded moments change nothing", FAINT))


def make_project(folder: Path) -> list[Path]:
    """Writes the templates into ``folder``; refuses to overwrite anything."""
    targets = {folder / place: name for name, place in PLACES.items()}
    there = [str(path) for path in targets if path.exists()]
    if there:
        raise ConfigurationError(
            f"{', '.join(there)} would be overwritten: choose an empty folder, or move them away"
        )
    templates = files("falkirk.cli").joinpath("project")
    for path, name in targets.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(templates.joinpath(name + TEMPLATE).read_bytes())
        except OSError as error:
            raise ConfigurationError(
                f"{path} cannot be made: {error.strerror}; choose another folder"
            ) from None
    return list(targets)
