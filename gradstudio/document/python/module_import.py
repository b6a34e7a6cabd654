"""Modules of a person's own: what a Python file offers, read without executing it; and what the engine made of one."""

import ast
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gradstudio.document.errors import BadTensor, UnreadableFile
from gradstudio.document.python.module_classes import names_of, names_read, propose, required_parameters
from gradstudio.document.stored_tensors import named_tensor
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

LARGEST_FILE = 5_000_000
"""Bytes of a text that is looked through."""


class ImportOption(msgspec.Struct, frozen=True):
    """Something in a file that may give a module.

    Attributes:
        kind: "class", "function" or "object" (bound at the file's top level).
        needs: parameters of the constructor or function that have no default.
        proposed: arguments with which it can be called, of what the file itself offers: ``config=Config()``; else "".
        is_used: a class of the file uses it, as a part or as its base.
        takes: parameters of `forward` that have no default, as far as the file says.
    """

    name: str
    kind: str
    line: int
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    proposed: str = ""
    is_used: bool = False


def import_options(path: Path) -> tuple[ImportOption, ...]:
    """What a file offers: its module classes first, then functions and objects, each in its order.

    Raises:
        UnreadableFile: it is no Python, or cannot be read.
    """
    return _offered(_tree(path))


def names_bound(path: Path) -> frozenset[str]:
    """The names that a file binds at its top level.

    Raises:
        UnreadableFile: it is no Python, or cannot be read.
    """
    return names_of(_tree(path))


def module_hint(path: Path) -> str:
    """How a file that defines a module, and is not drawn wholly, can be drawn all the same; "" when it cannot."""
    try:
        found = [offer for offer in import_options(path) if offer.kind == "class"]
    except UnreadableFile:
        return ""
    whole = next((offer.name for offer in found if not offer.is_used), found[-1].name if found else "")
    if not whole:
        return ""
    return (
        f"It defines the module {whole}: File > Import module…, or gradstudio import {path.name}:{whole} --run-code, "
        "runs its code and draws what it computes."
    )


def graph_of(text: str, tensors: Mapping[str, bytes]) -> Graph:
    """The document of a text that the engine wrote, with its stored tensors, laid out.

    Raises:
        UnreadableFile: a line of it is nothing that a canvas draws.
    """

    def stored(file: str) -> StoredTensor:
        digest = Path(file).stem
        if digest not in tensors:
            raise BadTensor(f"the stored tensor {digest[:12]}… did not come with it")
        return named_tensor(digest, tensors[digest])

    try:
        graph = read_script(text, stored).graph
    except NotReadable as error:
        raise UnreadableFile(error.reason, error.line, error.column + 1) from error
    graph.places = layout_missing(graph)
    return graph


def _tree(path: Path) -> ast.Module:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UnreadableFile(f"it is larger than {LARGEST_FILE:,} bytes")
        return ast.parse(path.read_bytes())
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror or error}") from error
    except SyntaxError as error:
        raise UnreadableFile(f"this is not Python: {error.msg}", error.lineno or 1, error.offset or 1) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableFile(f"this is not Python: {error}") from error


def _offered(tree: ast.Module) -> tuple[ImportOption, ...]:
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    modules = [node for node in classes.values() if _is_module(node, classes, frozenset())]
    used = {name for node in classes.values() for name in names_read(node)}
    found = [_of_class(node, tree, classes, used) for node in modules]
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) if not name.startswith("_"):
                needs = required_parameters(node.args, 0)
                proposed = propose(name, needs, node.args, tree)
                found.append(ImportOption(name, "function", node.lineno, needs, proposed=proposed))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)):
                takes = _takes_of_object(called, classes, modules)
                if takes is not None:
                    found.append(ImportOption(name, "object", node.lineno, (), takes))
            case _:
                pass
    return tuple(found)


def _of_class(node: ast.ClassDef, tree: ast.Module, classes: dict[str, ast.ClassDef], used: set[str]) -> ImportOption:
    maker, forward = _method(node, classes, "__init__"), _method(node, classes, "forward")
    needs = required_parameters(maker.args, 1) if maker is not None else ()
    proposed = propose(node.name, needs, maker.args, tree) if maker is not None else ""
    takes = required_parameters(forward.args, 1) if forward is not None else ()
    return ImportOption(node.name, "class", node.lineno, needs, takes, proposed, node.name in used)


def _takes_of_object(
    called: ast.expr, classes: dict[str, ast.ClassDef], modules: list[ast.ClassDef]
) -> tuple[str, ...] | None:
    """What the forward of ``name = Net(...)`` takes; None when it is no module as far as can be seen."""
    if isinstance(called, ast.Name):
        word = called.id
    elif isinstance(called, ast.Attribute):
        word = called.attr
    else:
        word = ""
    if word in classes and classes[word] in modules:
        forward = _method(classes[word], classes, "forward")
        return required_parameters(forward.args, 1) if forward is not None else ()
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


def _method(node: ast.ClassDef, classes: dict[str, ast.ClassDef], method: str) -> ast.FunctionDef | None:
    """A method of a class, or of the first base in the file that has it."""
    seen: set[str] = set()
    while node.name not in seen:
        seen.add(node.name)
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == method:
                return inner
        base = next((b.id for b in node.bases if isinstance(b, ast.Name) and b.id in classes), None)
        if base is None:
            break
        node = classes[base]
    return None
