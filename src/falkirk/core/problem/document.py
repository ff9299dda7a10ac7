"""A JSON document that may hold anything, and complaints about it that name the place.

``place`` arguments are paths such as ``edges.e1.src``. Whatever a document holds, a complaint is
one printable line.
"""

import json
from dataclasses import dataclass
from reprlib import Repr
from typing import Any, NoReturn

from falkirk.core.errors import ProblemError

NUMBER_LIMIT = 2**63
"""Numbers are smaller: they fit what other programs use for them."""
_DIGITS_MAX = len(str(NUMBER_LIMIT))

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxdict = 3, 8, 8
_SHORT.maxstring = _SHORT.maxother = 80


@dataclass(frozen=True, slots=True)
class Huge:
    """A number so long that reading it would be work: no place accepts it."""

    digits: int

    def __repr__(self) -> str:
        return f"a number of {self.digits} digits"


def parse(text: str) -> Any:
    """The document that ``text`` is.

    >>> parse('{"complete": [[7]]}')
    {'complete': [[7]]}
    >>> parse("1" * 5000)
    a number of 5000 digits
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
    except RecursionError:
        fail("problem", "not valid JSON: nested too deeply")
    except ValueError as error:
        fail("problem", f"not valid JSON: {error}")


def fail(place: str, message: str | Exception) -> NoReturn:
    """Refuses the document for what is at ``place``."""
    reason = message.args[0] if isinstance(message, Exception) else message
    raise ProblemError(one_line(place), one_line(str(reason))) from None


def one_line(text: str) -> str:
    r"""``text`` with whatever cannot be printed, such as line ends, written as an escape.

    >>> print(one_line("two\nlines, größe →"))
    two\nlines, größe →
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: Any) -> str:
    """``value`` as a complaint shows it: as Python writes it, and short.

    >>> shown([1, "inf"]), shown([[[[[[]]]]]])
    ("[1, 'inf']", '[[[[...]]]]')
    """
    return _SHORT.repr(value)


def object_at(place: str, value: Any, known: set[str] | None = None) -> dict[str, Any]:
    """``value``, which must be an object with no other fields than those ``known``."""
    if not isinstance(value, dict):
        fail(place, "missing" if value is None else f"expected an object, not {shown(value)}")
    if known is not None:
        refuse_unknown(place, value, known)
    return value


def named(place: str, value: Any) -> dict[str, Any]:
    """``value``, which must be an object whose keys can serve as names."""
    found = object_at(place, value)
    for name in found:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            fail(f"{place}.{name}", "a name is text; half a surrogate pair is not")
    return found


def refuse_unknown(place: str, body: dict[str, Any], known: set[str]) -> None:
    """Refuses a ``body`` with other fields than those ``known``."""
    for key in body:
        if key not in known:
            fail(f"{place}.{key}", f"unknown field; expected {', '.join(sorted(known))}")


def number_at(place: str, value: Any, or_inf: bool = False) -> Any:
    """``value``, which must be a whole number from 0, or ``"inf"`` where that is allowed."""
    if or_inf and value == "inf":
        return value
    extra = ' or "inf"' if or_inf else ""
    if isinstance(value, bool) or not isinstance(value, int | Huge):
        fail(place, f"expected a whole number from 0{extra}, not {shown(value)}")
    if isinstance(value, Huge) or value >= NUMBER_LIMIT:
        fail(place, f"expected a number below 2**63{extra}, not {shown(value)}")
    if value < 0:
        fail(place, f"expected a whole number from 0{extra}, not {value}")
    return value


def _integer(digits: str) -> int | Huge:
    length = len(digits.removeprefix("-"))
    return int(digits) if length <= _DIGITS_MAX else Huge(length)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} occurs twice in one object")
        found[key] = value
    return found
