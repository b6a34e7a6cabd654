"""torch's own documentation of an operator, read from the installed torch."""

import functools
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
import torch

from gradstudio import paths
from gradstudio.operators.calls.argument_binding import signature
from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.operators.model import Face, Operator
from gradstudio.protocol.messages.torch_docs import Describe, Described, Passage

MAX_DEPTH = 3
_NOT_TORCHS = ("numpy.", "builtins.", "python.", "math.")
"""What is Python's or numpy's: a page of torch's function of that name would say what is not so."""
SHORT = 420
"""A docstring up to this many characters that refers to another is followed by that one."""
_POINTS = re.compile(
    r"\b(?:see|alias (?:for|of)|in-?place version of|out-of-place version of|refer to"
    r"|performs the same operation as)\s",
    re.IGNORECASE,
)
_ROLE = re.compile(r":(?:func|meth|class|attr|obj):`(?:[^`<]*<)?[~!]?(?P<path>[\w.]+)(?:\(\))?>?`")
_PLAIN = re.compile(r"\b(?P<path>torch(?:\.\w+)+)")
_UNSAID = re.compile(r"<[^<>]*? at 0x[0-9a-f]+>")


class _Own(msgspec.Struct, frozen=True):
    """What we say where torch says nothing."""

    text: str
    see: tuple[str, ...] = ()


def describe(request: Describe) -> Described:
    """Everything the installed torch says of the operator, or in words why there is nothing."""
    operator = catalogue.load().entry(request.operator)
    if operator is None:
        return Described(
            request=request.request, operator=request.operator, error=f"There is no operator '{request.operator}'."
        )
    passages = tuple(documentation(operator))
    error = "" if passages else f"The installed torch has no documentation of {operator.path}."
    return Described(
        request=request.request,
        operator=operator.key,
        passages=passages,
        source=operator.path.rstrip("="),
        torch=str(torch.__version__),
        error=error,
    )


def documentation(operator: Operator) -> Iterator[Passage]:
    """The docstring, and those that it refers to where it says little itself; our own words first."""
    own = _own().get(operator.key) or _own().get(operator.path)
    told: set[str] = set()
    if own is not None:
        yield Passage("", inspect.cleandoc(own.text))
        for path in own.see:
            yield from _followed(path, told, MAX_DEPTH)
        return
    if operator.rare and operator.path.startswith(_NOT_TORCHS):
        called = f" It is called ``{signature(operator)}``." if operator.face is Face.FUNCTION else ""
        yield Passage("", f"{operator.summary}.{called}")
        return
    for path in _places(operator.path.rstrip("=")):
        yield from _followed(path, told, MAX_DEPTH)
        if told:
            if operator.takes and _tells_arguments(_docstring(_resolve(f"{operator.path}.forward"))):
                yield from _followed(f"{operator.path}.forward", told, 0)  # what the module is called with
            return
    near = _near().get(operator.word.rstrip("_"))
    if near is not None:
        yield Passage("", f"torch has no page of ``{operator.path}``. What comes nearest:")
        yield from _followed(near, told, MAX_DEPTH)


def _places(path: str) -> Iterator[str]:
    """Where its page may stand: at its own path, else at that of the same word elsewhere in torch."""
    word = path.rsplit(".", 1)[-1]
    yield path
    for other in dict.fromkeys((word, word.rstrip("_"))):
        yield from (f"{home}.{other}" for home in ("torch", "torch.Tensor", "torch.nn.functional", "torch.special"))


@functools.cache
def _written() -> dict[str, Any]:
    return tomllib.loads((paths.resources() / "documentation" / "own.toml").read_text("utf-8"))


@functools.cache
def _own() -> dict[str, _Own]:
    return msgspec.convert({key: own for key, own in _written().items() if key != "near"}, dict[str, _Own])


def _near() -> dict[str, str]:
    """By the last word of a path that torch documents nowhere: the path that comes nearest."""
    return msgspec.convert(_written()["near"], dict[str, str])


def _followed(path: str, told: set[str], depth: int) -> Iterator[Passage]:
    """A path's passage; when it only refers to another, that one too."""
    found = _resolve(path)
    text = _docstring(found)
    if not text or text in told:
        return
    told.add(text)
    yield Passage(path, text, _signature(found))
    if depth and _only_refers(text):
        for other in _references(path, text):
            before = len(told)
            yield from _followed(other, told, depth - 1)
            if len(told) > before:
                return


def _only_refers(text: str) -> bool:
    return len(text) <= SHORT and "Args:" not in text and _POINTS.search(text) is not None


def _tells_arguments(text: str) -> bool:
    return "Args:" in text or "Attributes:" in text


def _references(path: str, text: str) -> Iterator[str]:
    """The paths that a text points at, behind the words that do."""
    pointing = _POINTS.search(text)
    rest = text[pointing.end() :] if pointing is not None else ""
    home = path.rpartition(".")[0]
    for found in (*_ROLE.finditer(rest), *_PLAIN.finditer(rest)):
        name = found["path"].rstrip(".")
        for candidate in (name, f"torch.{name}", f"{home}.{name}", f"torch.Tensor.{name}"):
            if candidate != path and _docstring(_resolve(candidate)):
                yield candidate
                break


def _docstring(found: Any) -> str:
    """What Python's own help would show; an object that is no function, class or attribute has only its class's."""
    if found is None:
        return ""
    described = callable(found) or inspect.isdatadescriptor(found) or inspect.isroutine(found)
    return (inspect.getdoc(found) or "") if described else ""


def _signature(found: Any) -> str:
    try:
        told = str(inspect.signature(found))
    except (TypeError, ValueError):
        return ""
    return _UNSAID.sub("…", told)


def _resolve(path: str) -> Any:
    """The object of a dotted path, or None."""
    parts = path.split(".")
    if parts[0] not in ("torch", "builtins", "operator"):
        return None
    for k in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            try:
                found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
            except AttributeError:
                return None
        return found.__func__ if isinstance(found, staticmethod | classmethod) else found
    return None
