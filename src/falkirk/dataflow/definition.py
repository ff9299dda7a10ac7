"""What runs at a processor as a short text: equal while its code and its parameters are.

A description says how processors hang together; this says what each of them does. It follows
functions into their code, into what they captured and into the globals of the user's own modules
that they name. Falkirk's own code, and that of libraries, counts by its name alone. What cannot be
followed is passed over, so equal texts are strong evidence and no proof.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), PurePath)

PYTHONS = ("__module__", "__qualname__", "__doc__", "__firstlineno__", "__static_attributes__")
"""What Python itself puts into a class."""

Follow = Callable[[Any], Iterator[str]]


def definition(value: Any) -> str:
    """The text for an operator.

    >>> one, other = (lambda limit: lambda row: row > limit), (lambda limit: lambda row: row < 3)
    >>> definition(one(3)) == definition(one(3)), definition(one(3)) == definition(one(4))
    (True, False)
    >>> definition(one(3)) == definition(other(3))
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for word in words(value, {}):
        digest.update(word.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def words(value: Any, seen: dict[int, tuple[int, Any]]) -> Iterator[str]:
    """All that tells ``value`` from others; what was ``seen`` before counts by its number."""
    if isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!s}"
        return
    if id(value) in seen:
        yield f"seen {seen[id(value)][0]}"
        return
    seen[id(value)] = (len(seen), value)  # held, so that no other object gets its number
    follow = partial(words, seen=seen)
    if isinstance(value, list | tuple):
        yield f"{type(value).__name__} {len(value)}"
        for each in value:
            yield from follow(each)
    elif isinstance(value, dict):
        yield f"dict {len(value)}"
        for key in sorted(value, key=repr):
            yield from follow(key)
            yield from follow(value[key])
    elif isinstance(value, set | frozenset):
        yield f"set {len(value)}"
        for each in sorted(value, key=repr):
            yield from follow(each)
    elif isinstance(value, FunctionType):
        yield from function_words(value, follow)
    elif isinstance(value, MethodType):
        yield from follow(value.__func__)
        yield from follow(value.__self__)
    elif isinstance(value, partial):
        for each in (value.func, value.args, value.keywords):
            yield from follow(each)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, type):
        yield from class_words(value, follow)
    else:
        yield from object_words(value, follow)


def function_words(function: FunctionType, follow: Follow) -> Iterator[str]:
    """A function: its code, what it captured, its defaults and the globals that it names."""
    yield function.__qualname__
    if is_users(function.__module__):
        yield from code_words(function.__code__)
        for name in sorted(names_in(function.__code__) & set(function.__globals__)):
            yield name
            yield from follow(function.__globals__[name])
    for given in (function.__defaults__, function.__kwdefaults__):
        yield from follow(given)
    for cell in function.__closure__ or ():
        try:
            yield from follow(cell.cell_contents)
        except ValueError:
            yield "nothing yet"


def code_words(code: CodeType) -> Iterator[str]:
    """Compiled code without its places in a file."""
    yield code.co_code.hex()
    yield " ".join((*code.co_names, *code.co_varnames, *code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_words(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def names_in(code: CodeType) -> set[str]:
    """The names that code, and the code inside it, looks up."""
    nested = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(names_in, nested))


def class_words(found: type, follow: Follow) -> Iterator[str]:
    """A class: its name and, where it is the user's, what its body defines."""
    yield f"{found.__module__}.{found.__qualname__}"
    if not is_users(found.__module__):
        return
    for base in found.__bases__:
        yield from follow(base)
    for name, each in sorted(vars(found).items()):
        given = each.__func__ if isinstance(each, staticmethod | classmethod) else each
        given = given.fget if isinstance(given, property) else given
        if isinstance(given, (FunctionType, *PLAIN, tuple, list, dict)) and name not in PYTHONS:
            yield name
            yield from follow(given)


def object_words(value: Any, follow: Follow) -> Iterator[str]:
    """An object: its class and its attributes; a library's by what it says of itself."""
    kind = type(value)
    yield from follow(kind)
    if is_dataclass(value):
        for field in fields(value):
            if field.compare:
                yield field.name
                yield from follow(getattr(value, field.name, None))
    elif is_users(kind.__module__) or kind.__module__.partition(".")[0] == "falkirk":
        for name, each in sorted(getattr(value, "__dict__", {}).items()):
            if not name.startswith("_"):
                yield name
                yield from follow(each)
    elif kind.__module__ in ("datetime", "decimal", "re", "enum"):
        yield repr(value)


def is_users(module: str | None) -> bool:
    """Whether a module is neither falkirk's, nor Python's, nor an installed library's."""
    if module is None:
        return False
    top = module.partition(".")[0]
    if top == "falkirk" or (top in sys.stdlib_module_names and top != "__main__"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file
