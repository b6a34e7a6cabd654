"""The user's file: importing it, finding the module in it, and telling where in it something failed."""

import importlib
import importlib.util
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Protocol

from torch import nn

from gradstudio.document.errors import UnreadableFile
from gradstudio.engine.bring.errors import CannotBring, CodeFailed, NotThere

PRIVATE = "_brought_"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}")
OWN = str(Path(__file__).resolve().parents[2]) + os.sep
Arguments = tuple[tuple[object, ...], dict[str, object]]


class SourceFiles(Protocol):
    """Where a person's own lines stand."""

    def short(self, filename: str) -> str:
        """How a file is called."""

    def source(self, filename: str, line: int) -> str:
        """A line of it."""


class UsersFile:
    """One file of the user's, and the folder whose code counts as theirs."""

    def __init__(self, path: Path) -> None:
        """Remember where it is; nothing is executed yet."""
        self.path = path
        self.folder, self._module_name = _root_and_name(path)

    @contextmanager
    def at_home(self) -> Iterator[None]:
        """What runs here finds the modules and files that lie beside the file, no arguments and no standard input."""
        sys.argv = [str(self.path)]
        sys.path.insert(0, str(self.folder))
        os.chdir(self.path.parent)
        with open(os.devnull) as nothing:
            sys.stdin = nothing
            yield

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """What raises inside is the user's failure, at the line of theirs where it came from.

        Raises:
            CodeFailed: for whatever was raised, `SystemExit` too.
        """
        try:
            yield
        except CannotBring:
            raise
        except BaseException as error:  # the step boundary: the user's code may raise anything
            raise self._failure(error) from error

    def load(self) -> ModuleType:
        """Import it.

        Raises:
            CodeFailed: its code raised.
        """
        with self.blamed():
            if "." in self._module_name:
                return importlib.import_module(self._module_name)
            spec = importlib.util.spec_from_file_location(self._module_name, self.path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[self._module_name] = module
            spec.loader.exec_module(module)
            return module

    def is_theirs(self, filename: str) -> bool:
        """Whether a line of that file is the user's own, not a library's."""
        ours = filename.startswith(OWN) or "site-packages" in filename
        return filename.startswith(f"{self.folder}{os.sep}") and not ours

    def short(self, filename: str) -> str:
        """How a file of theirs is called."""
        return os.path.relpath(filename, self.path.parent) if filename else ""

    def _failure(self, error: BaseException) -> CodeFailed:
        told = ADDRESS.sub("", str(error)).replace(PRIVATE, "")
        words = f"{type(error).__name__}: {told}" if told else type(error).__name__
        if isinstance(error, SystemExit):
            words = f"The code ended the program: SystemExit({error.code!r})"
        if isinstance(error, SyntaxError) and error.filename:
            words = f"{type(error).__name__}: {error.msg}"  # its place is told once
            return CodeFailed(words, self.short(error.filename), error.lineno or 0, (error.text or "").strip())
        frames = [f for f in traceback.extract_tb(error.__traceback__) if self.is_theirs(f.filename)]
        if not frames:
            return CodeFailed(words)
        last = frames[-1]
        return CodeFailed(words, self.short(last.filename), last.lineno or 0, (last.line or "").strip())

    def source(self, filename: str, line: int) -> str:
        """A line of a file of theirs."""
        return linecache.getline(filename, line).strip()


def _root_and_name(path: Path) -> tuple[Path, str]:
    """The folder that is to be on the path, and the module's name: dotted inside a package."""
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts) if len(parts) > 1 else f"{PRIVATE}{path.stem}"


def build(file: UsersFile, module: ModuleType, name: str, arguments: Arguments) -> nn.Module:
    """The module of that name: a class or a function is called with the arguments.

    Raises:
        NotThere: there is no such thing, it gives no module, or it wants other arguments.
        CodeFailed: its code raised.
    """
    found = getattr(module, name, None)
    if found is None:
        near = get_close_matches(name, [n for n in vars(module) if not n.startswith("_")], n=1)
        hint = f" Did you mean {near[0]}?" if near else f" It has {_offers(module)}."
        raise NotThere(f"{file.path.name} has no '{name}'.{hint}")
    if isinstance(found, nn.Module):
        return found
    if isinstance(found, type) and not issubclass(found, nn.Module):
        raise NotThere(f"'{name}' of {file.path.name} is a class, but no torch.nn.Module.")
    if not callable(found):
        raise NotThere(f"'{name}' of {file.path.name} is of class {type(found).__name__}, and no torch.nn.Module.")
    _fits(found, name, arguments, file)
    with file.blamed():
        made = found(*arguments[0], **arguments[1])
    if not isinstance(made, nn.Module):
        raise NotThere(f"'{name}' of {file.path.name} gives something of class {type(made).__name__}, no nn.Module.")
    return made


def _offers(module: ModuleType) -> str:
    names = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, nn.Module)]
    own = [n for n in names if vars(module)[n].__module__ == module.__name__]
    return ", ".join(own or names) or "no module at all"


def _fits(found: Callable[..., object], name: str, arguments: Arguments, file: UsersFile) -> None:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments[0], **arguments[1])
    except TypeError as error:
        wanted = ", ".join(signature_text(parameter) for parameter in signature.parameters.values())
        raise NotThere(f"{name}({wanted}) cannot be called so: {error}.{_hint(file.path, name)}") from None


def signature_text(parameter: inspect.Parameter) -> str:
    """A parameter as a person reads it: no addresses, no names that we gave."""
    kind, default = parameter.annotation, parameter.default
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" * (parameter.kind is parameter.VAR_KEYWORD)
    text, equals = f"{stars}{parameter.name}", "="
    if kind is not parameter.empty:
        text, equals = f"{text}: {kind if isinstance(kind, str) else getattr(kind, '__name__', '…')}", " = "
    if default is parameter.empty:
        return text
    value = repr(default)
    return f"{text}{equals}{'…' if ' at 0x' in value or PRIVATE in value or len(value) > 40 else value}"


def _hint(path: Path, name: str) -> str:
    """An example of the arguments, where the file tells what is needed."""
    from gradstudio.document.python.module_import import import_options  # a record needs nothing of it

    try:
        offer = next((one for one in import_options(path) if one.name == name), None)
    except UnreadableFile:
        return ""
    if offer is None or not offer.needs:
        return ""
    example = offer.proposed or ", ".join(f"{word}=…" for word in offer.needs)
    return f' Give the arguments, for example --args "{example}".'
