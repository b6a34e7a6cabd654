"""Slips in classes that are kept as code: layers in a plain list, a backward without the gradient that arrives."""

import ast
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code

REGISTERING = frozenset({"ModuleList", "Sequential", "add_module", "register_module", "setattr", "ModuleDict"})
Method = ast.FunctionDef


def of_code(graph: Graph) -> Iterator[Finding]:
    """All that can be said of the classes in code."""
    for item, node in graph.nodes.items():
        if not is_code(node) or node.muted:
            continue
        for made in _classes(code_of(node)):
            if _derives(made, "Module"):
                yield from _plain_lists(item, made)
            elif _derives(made, "Function"):
                yield from _lost_gradients(item, made)


def _classes(text: str) -> list[ast.ClassDef]:
    if "class " not in text:
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    return [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]


def _derives(made: ast.ClassDef, base: str) -> bool:
    return any(ast.unparse(one).rpartition(".")[2] == base for one in made.bases)


def _plain_lists(item: ItemId, made: ast.ClassDef) -> Iterator[Finding]:
    """Layers that are appended to a list, which no container of torch is given."""
    method = next((one for one in made.body if isinstance(one, Method) and one.name == "__init__"), None)
    if method is None:
        return
    called = {ast.unparse(one.func).rpartition(".")[2] for one in ast.walk(made) if isinstance(one, ast.Call)}
    lists = {
        target.attr
        for one in ast.walk(method)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.List)
        for target in one.targets
        if isinstance(target, ast.Attribute)
    }
    for call in (one for one in ast.walk(method) if isinstance(one, ast.Call)):
        owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
        if not isinstance(owner, ast.Attribute) or owner.attr not in lists or called & REGISTERING:
            continue
        layer = call.args[0] if call.args else None
        if isinstance(layer, ast.Call) and ast.unparse(layer.func).startswith(("nn.", "torch.nn.")):
            yield Finding(
                "left_out",
                "warning",
                item,
                f"{made.name}.{owner.attr} is a plain list: parameters() does not list the layers in it, so no "
                "optimizer updates them",
                f"A module knows the layers that are its attributes. Write self.{owner.attr} = nn.ModuleList() instead "
                "of [].",
                (item,),
            )
            return


def _lost_gradients(item: ItemId, made: ast.ClassDef) -> Iterator[Finding]:
    """A backward that gives something, and that does not look at what it is given."""
    method = next((one for one in made.body if isinstance(one, Method) and one.name == "backward"), None)
    if method is None:
        return
    names = [one.arg for one in method.args.args[1:]] + ([method.args.vararg.arg] if method.args.vararg else [])
    used = {one.id for one in ast.walk(method) if isinstance(one, ast.Name)}
    given = [one.value for one in ast.walk(method) if isinstance(one, ast.Return) and one.value is not None]
    parts = [part for one in given for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    if not names or used & set(names) or all(map(_is_nothing, parts)):
        return
    yield Finding(
        "lost_gradient",
        "warning",
        item,
        f"The backward of {made.name} does not use {names[0]}: it gives its own slope alone, without the gradient that "
        "arrives",
        f"By the chain rule the slope is multiplied by what comes from behind: return {names[0]} * ….",
        (item,),
    )


def _is_nothing(part: ast.expr) -> bool:
    """Whether no gradient is given back, which is meant."""
    return isinstance(part, ast.Constant) or "zeros" in ast.unparse(part)
