"""Modules of a person's own: what a Python file offers, read without executing it; and what the engine made of one."""

import ast
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gradstudio.document.errors import BadTensor, UnreadableFile
from gradstudio.document.tensors import looked_up
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

LARGEST_FILE = 5_000_000
"""Bytes of a text that is looked through."""


class Offer(msgspec.Struct, frozen=True):
    """Something in a file that may give a module.

    Attributes:
        kind: "class", "function" or "object" (bound at the file's top level).
        needs: parameters of the constructor or function that have no default.
        takes: parameters of `forward` that have no default, as far as the file says.
    """

    name: str
    kind: str
    line: int
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def offers(path: Path) -> tuple[Offer, ...]:
    """What a file offers: its module classes first, then functions and objects, each in its order.

    Raises:
        UnreadableFile: it is no Python, or cannot be read.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UnreadableFile(f"it is larger than {LARGEST_FILE:,} bytes")
        tree = ast.parse(path.read_bytes())
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror or error}") from error
    except SyntaxError as error:
        raise UnreadableFile(f"this is not Python: {error.msg}", error.lineno or 1, error.offset or 1) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableFile(f"this is not Python: {error}") from error
    return _offered(tree)


def graph_of(text: str, tensors: Mapping[str, bytes]) -> Graph:
    """The document of a text that the engine wrote, with its stored tensors, laid out.

    Raises:
        UnreadableFile: a line of it is nothing that a canvas draws.
    """

    def stored(file: str) -> StoredTensor:
        digest = Path(file).stem
        if digest not in tensors:
            raise BadTensor(f"the stored tensor {digest[:12]}… did not come with it")
        return looked_up(digest, tensors[digest])

    try:
        graph = read_script(text, stored).graph
    except NotReadable as error:
        raise UnreadableFile(error.reason, error.line, error.column + 1) from error
    graph.places = layout_missing(graph)
    return graph


def _offered(tree: ast.Module) -> tuple[Offer, ...]:
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    modules = [node for node in classes.values() if _is_module(node, classes, frozenset())]
    found = [
        Offer(n.name, "class", n.lineno, _needs(n, classes, "__init__"), _needs(n, classes, "forward")) for n in modules
    ]
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) if not name.startswith("_"):
                found.append(Offer(name, "function", node.lineno, _required(node.args, 0)))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)):
                takes = _takes_of_object(called, classes, modules)
                if takes is not None:
                    found.append(Offer(name, "object", node.lineno, (), takes))
            case _:
                pass
    return tuple(found)


def _takes_of_object(
    called: ast.expr, classes: dict[str, ast.ClassDef], modules: list[ast.ClassDef]
) -> tuple[str, ...] | None:
    """What the forward of ``name = Net(...)`` takes; None when it is no module as far as can be seen."""
    word = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    if word in classes and classes[word] in modules:
        return _needs(classes[word], classes, "forward")
    return () if word == "Sequential" else None


def _is_module(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str]) -> bool:
    """Whether a class is a module as far as can be seen: it has a forward, or a base that is called like one."""
    if node.name in seen:
        return False
    if any(isinstance(inner, ast.FunctionDef) and inner.name == "forward" for inner in node.body):
        return bool(node.bases)
    words = [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]
    own = [classes[word] for word in words if word in classes]
    return "Module" in words or "Sequential" in words or any(_is_module(b, classes, seen | {node.name}) for b in own)


def _needs(node: ast.ClassDef, classes: dict[str, ast.ClassDef], method: str) -> tuple[str, ...]:
    """The parameters without a default of a method of a class, or of the first base in the file that has it."""
    seen: set[str] = set()
    while node.name not in seen:
        seen.add(node.name)
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == method:
                return _required(inner.args, 1)
        base = next((b.id for b in node.bases if isinstance(b, ast.Name) and b.id in classes), None)
        if base is None:
            break
        node = classes[base]
    return ()


def _required(arguments: ast.arguments, skipped: int) -> tuple[str, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    plain = positional[: len(positional) - len(arguments.defaults)][skipped:]
    only = [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return tuple(argument.arg for argument in (*plain, *only))
