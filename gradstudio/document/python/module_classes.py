"""What the syntax of a person's file tells of its classes: names, who uses whom, and what can be called plainly."""

import ast


def names_of(tree: ast.Module) -> frozenset[str]:
    """The names that a file binds at its top level; what stands in an ``if`` or ``try`` counts."""
    found: set[str] = set()
    queue: list[ast.stmt] = list(tree.body)
    while queue:
        match queue.pop():
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.ImportFrom(names=aliases):
                found |= {alias.asname or alias.name for alias in aliases}
            case ast.Assign(targets=targets):
                found |= {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                found.add(name)
            case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
                queue += [*body, *other]
            case _:
                pass
    return frozenset(found)


def names_read(node: ast.ClassDef) -> set[str]:
    """The names that a class reads, its own aside."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} - {node.name}


def propose(name: str, needs: tuple[str, ...], arguments: ast.arguments, tree: ast.Module) -> str:
    """What to call a class or function with, where the file itself has it: ``config=GPTConfig()``; "" if it has not.

    Args:
        name: of what is called.
        needs: its parameters without a default.
        arguments: all of its parameters.
        tree: the file.
    """
    plain = _called_plainly(tree)
    kinds = {one.arg: one.annotation for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found = []
    for word in needs:
        made = _named(kinds.get(word), plain) or _alike(word, name, plain)
        if not made:
            return ""
        found.append(f"{word}={made}()")
    return ", ".join(found)


def required_parameters(arguments: ast.arguments, skipped: int) -> tuple[str, ...]:
    """The parameters without a default, from the given one on."""
    positional = [*arguments.posonlyargs, *arguments.args]
    plain = positional[: len(positional) - len(arguments.defaults)][skipped:]
    only = [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return tuple(argument.arg for argument in (*plain, *only))


def _called_plainly(tree: ast.Module) -> tuple[str, ...]:
    """Classes of the file that need no argument, modules aside: their constructor, or their fields, have defaults."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return tuple(name for name, node in classes.items() if _is_plain(node, classes, frozenset()))


def _is_plain(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str]) -> bool:
    if node.name in seen:
        return False
    for base in node.bases:
        word = base.id if isinstance(base, ast.Name) else ""
        if word in classes:
            if not _is_plain(classes[word], classes, seen | {node.name}):
                return False
        elif word not in ("object", "NamedTuple"):
            return False
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            return not required_parameters(inner.args, 1)
    fields = any("dataclass" in ast.unparse(one) for one in node.decorator_list) or bool(node.bases)
    return not fields or all(inner.value is not None for inner in node.body if isinstance(inner, ast.AnnAssign))


def _named(kind: ast.expr | None, plain: tuple[str, ...]) -> str:
    """The class that an annotation names: ``GPTConfig``, ``"GPTConfig"``, ``GPTConfig | None``."""
    if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
        return kind.value if kind.value in plain else ""
    if kind is None:
        return ""
    return next((inner.id for inner in ast.walk(kind) if isinstance(inner, ast.Name) and inner.id in plain), "")


def _alike(word: str, name: str, plain: tuple[str, ...]) -> str:
    """The class that a parameter without an annotation is called like: ``config`` is a ``GPTConfig``, the only one."""
    alike = [one for one in plain if one.lower().endswith(word.lower().strip("_")) and len(word) > 2]
    own = [one for one in alike if one.lower().startswith(name.lower())]
    chosen = own or alike
    return chosen[0] if len(chosen) == 1 else ""
