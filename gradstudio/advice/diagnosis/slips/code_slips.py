"""Slips in what is kept as code: layers in a plain list, a gradient that is lost, gradients that nothing zeroes."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.slips.code_texts import code_texts
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.code_text import syntax_of

REGISTERING = frozenset({"ModuleList", "Sequential", "add_module", "register_module", "setattr", "ModuleDict"})
ZEROING = re.compile(r"zero_grad|\.grad\b|\bexec\b|\bimport_module\b|^\s*from \.", re.MULTILINE)
"""What may empty a gradient, or do what is not seen."""
ZEROING_ROWS = (".zero_grad", ".grad", ".grad=")
OPTIMIZER = re.compile(r"opt", re.IGNORECASE)
Method = ast.FunctionDef


def of_code(graph: Graph) -> Iterator[Finding]:
    """All that can be said of the code of a program."""
    texts = code_texts(graph)
    parts = {item: _parts(text) for item, text in texts.items()}
    if not _zeroes(graph, texts.values()):
        yield from _never_zeroed(parts)
    yield from _dicts_in_drawn_classes(graph)
    if _has_closures(graph, texts.values()):
        for item, text in texts.items():
            yield from _idle_closures(item, syntax_of(text))
    for item, found in parts.items():
        for made in (part for part in found if isinstance(part, ast.ClassDef)):
            if _derives(made, "Module"):
                yield from _plain_lists(item, made)
                yield from _plain_dicts(item, made.name, made, is_whole=True)
            elif _derives(made, "Function"):
                yield from _lost_gradients(item, made)


def _zeroes(graph: Graph, texts: Iterable[str]) -> bool:
    """Whether anything in a program may zero a gradient."""
    drawn = (node.operator for one in graphs_of(graph) for node in one.nodes.values())
    return any(map(ZEROING.search, texts)) or any(operator.endswith(ZEROING_ROWS) for operator in drawn)


def _never_zeroed(parts: Mapping[ItemId, Sequence[ast.AST]]) -> Iterator[Finding]:
    """A loop in code that goes backward and steps, where nothing ever zeroes a gradient."""
    for item, found in parts.items():
        for loop in (one for one in found if isinstance(one, ast.For | ast.While)):
            called = [one.func for one in ast.walk(loop) if isinstance(one, ast.Call) and not one.args]
            acts = {one.attr: one for one in called if isinstance(one, ast.Attribute)}
            steps = [one for one in called if isinstance(one, ast.Attribute) and one.attr == "step"]
            owner = next((name for name in map(_owner, steps) if OPTIMIZER.search(name)), "")
            if not owner or "backward" not in acts:
                continue
            yield Finding(
                "no_zero_grad",
                "warning",
                item,
                f"Gradients add up over the steps of {owner}: nothing zeroes them in between",
                "Each backward adds to .grad, so a step goes by the sum of all gradients since the first. Put "
                f"{owner}.zero_grad() before `{ast.unparse(acts['backward'])}()`.",
                (item,),
                line=acts["backward"].lineno,
            )
            return


def _has_closures(graph: Graph, texts: Iterable[str]) -> bool:
    """Whether an optimizer asks for the loss at several places within a step."""
    drawn = (node.operator for node in graph.nodes.values())
    return any("LBFGS" in text for text in texts) or any(operator.endswith(".LBFGS") for operator in drawn)


def _idle_closures(item: ItemId, syntax: ast.AST) -> Iterator[Finding]:
    """What is given to a step of LBFGS, and computes no gradient anew."""
    made = {one.name: one for one in ast.walk(syntax) if isinstance(one, Method)}
    for call in (one for one in ast.walk(syntax) if isinstance(one, ast.Call)):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "step" or len(call.args) != 1:
            continue
        given = call.args[0]
        closure = made.get(given.id) if isinstance(given, ast.Name) else given
        if not isinstance(closure, ast.Lambda | Method) or _calls(closure):
            continue
        yield Finding(
            "old_loss",
            "warning",
            item,
            f"The closure of `{ast.unparse(call)}` computes nothing: LBFGS sees the same loss and the same gradient "
            "wherever it steps",
            "LBFGS asks for the loss at several places within one step. The closure has to zero the gradients, compute "
            "the loss, call its backward and return it.",
            (item,),
            line=call.lineno,
        )
        return


def _calls(closure: ast.Lambda | Method) -> bool:
    body = [closure.body] if isinstance(closure, ast.Lambda) else closure.body
    return any(isinstance(one, ast.Call) for part in body for one in ast.walk(part))


def _owner(called: ast.Attribute) -> str:
    return ast.unparse(called.value)


def _parts(text: str) -> list[ast.AST]:
    """The loops and classes of a text, the outermost first; none of one that is no Python."""
    if not any(word in text for word in ("class", "for", "while")):
        return []
    return [part for part in ast.walk(syntax_of(text)) if isinstance(part, ast.For | ast.While | ast.ClassDef)]


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
                line=call.lineno,
            )
            return


def _dicts_in_drawn_classes(graph: Graph) -> Iterator[Finding]:
    """The same in the code of classes that are drawn, told where one is made."""
    makers = {node.operator: node.id for node in graph.nodes.values()}
    for name, definition in graph.definitions.items():
        item = makers.get(GROUP + name) if definition.is_module else None
        codes = [code_of(node) for node in definition.graph.nodes.values() if is_code(node)]
        if item is not None:
            for text in codes:
                yield from _plain_dicts(item, name, syntax_of(text))


def _plain_dicts(item: ItemId, name: str, made: ast.AST, *, is_whole: bool = False) -> Iterator[Finding]:
    """Layers as the values of a dict, which no container of torch is given.

    Args:
        is_whole: whether the class stands in the code of the item itself, which knows its lines.
    """
    called = {ast.unparse(one.func).rpartition(".")[2] for one in ast.walk(made) if isinstance(one, ast.Call)}
    for one in ast.walk(made):
        owner = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(one, ast.Assign) or not isinstance(owner, ast.Attribute) or called & REGISTERING:
            continue
        values = [one.value.value] if isinstance(one.value, ast.DictComp) else []
        values += one.value.values if isinstance(one.value, ast.Dict) else []
        layers = [ast.unparse(value.func) for value in values if isinstance(value, ast.Call)]
        if layers and all(re.match(r"(torch\.)?nn\.[A-Z]", layer) for layer in layers):
            yield Finding(
                "left_out",
                "warning",
                item,
                f"{name}.{owner.attr} is a plain dict: parameters() does not list the layers in it, so no "
                "optimizer updates them",
                f"A module knows the layers that are its attributes. Write self.{owner.attr} = nn.ModuleDict({{…}}).",
                (item,),
                line=one.lineno if is_whole else 0,
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
        line=method.lineno,
    )


def _is_nothing(part: ast.expr) -> bool:
    """Whether no gradient is given back, which is meant."""
    return isinstance(part, ast.Constant) or "zeros" in ast.unparse(part)
