"""`falkirk.core` shows everything that is meant for users, and needs the standard library only."""

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import falkirk.core

# Modules that the core has for itself, and those that are used by their own name.
OWN_NAME = {"machine", "policy"}
INTERNAL_MODULES = {
    "choosing",
    "columns",
    "descent",
    "extension",
    "fixpoint",
    "reorder",
    "trail",
    "variables",
}
# What other modules of the core share among themselves, and users do without.
INTERNAL = {
    "constraints": {"largest"},
    "family": {"FamilyChoice"},
    "frontier": {"antichain", "show_time"},
    "graph": {"Topology"},
    "order": {"joins", "least", "product_leq"},
    "projection": {"LoopProjection"},
    "words": {"at", "until"},
}
FOREIGN = ("click", "py4j", "pyarrow", "pyspark", "rich", "sqlalchemy")


def public_names() -> dict[str, set[str]]:
    """The public classes and functions that each module of the core defines."""
    found = {}
    for module in pkgutil.iter_modules(falkirk.core.__path__):
        if module.name in OWN_NAME | INTERNAL_MODULES:
            continue
        full = import_module(f"falkirk.core.{module.name}")
        found[module.name] = {
            name
            for name, value in vars(full).items()
            if (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__ == full.__name__
            and not name.startswith("_")
        }
    return found


def test_every_public_class_and_function_is_listed_or_declared_internal() -> None:
    listed = set(falkirk.core.__all__)
    missing = {
        f"{module}.{name}"
        for module, names in public_names().items()
        for name in names - listed - INTERNAL.get(module, set())
    }
    assert not missing


def test_what_is_declared_internal_exists_and_is_not_listed() -> None:
    names = public_names()
    assert all(internal <= names[module] for module, internal in INTERNAL.items())
    assert not set().union(*INTERNAL.values()) & set(falkirk.core.__all__)


def test_the_list_is_sorted_without_repetition_and_every_name_exists() -> None:
    def constants_first(name: str) -> tuple[bool, bool, str]:
        return not name.isupper(), not name[0].isupper(), name

    listed = falkirk.core.__all__
    assert listed == sorted(set(listed), key=constants_first)
    assert all(hasattr(falkirk.core, name) for name in listed)


def test_nothing_is_imported_from_outside_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules); import falkirk.core;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    imported = set(run.stdout.split())
    assert "falkirk" in imported
    assert not imported & set(FOREIGN)
    assert imported <= {"falkirk", *sys.stdlib_module_names}
