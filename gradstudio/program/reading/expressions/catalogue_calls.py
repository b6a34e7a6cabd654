"""Calls of a text: which row of the catalogue each means, and where its arguments go."""

import ast
import io
from difflib import get_close_matches
from functools import lru_cache
from typing import Protocol

import msgspec

from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.model import Node
from gradstudio.graph.operator_rows import GROUP, row_of, row_of_key
from gradstudio.graph.ports.arguments import positional_beyond_style
from gradstudio.graph.ports.module_calls import before_loops
from gradstudio.graph.text.code_records import CODE, FREE_CALL, FREE_METHOD, FREE_PATH, MOVES, PROCESSES
from gradstudio.graph.text.format_templates import NO_REACH, reaches
from gradstudio.graph.text.literal_text import quote
from gradstudio.operators.calls import argument_binding
from gradstudio.operators.calls.argument_binding import Binding, Given, Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.out_variants import OUT
from gradstudio.operators.errors import BindingError
from gradstudio.operators.families import call_results
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.definitions.method_inlining import Inlined
from gradstudio.program.reading.desugar.synthetic_nodes import at_position
from gradstudio.program.reading.expressions.old_arguments import say_reduction
from gradstudio.program.reading.expressions.receiver_types import LAST, owners_of
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.refusals import call_words

_OWNERS = {
    Family.TENSOR: ("torch.Tensor",),
    Family.NUMBER: ("torch.Tensor", "builtins.int"),
    Family.MODULE: ("torch.nn.Module",),
    Family.OPTIMIZER: ("torch.optim.Optimizer",),
    Family.OBJECT: (
        *("torch.optim.lr_scheduler.LRScheduler", "torch.Generator", "torch.Tensor", "numpy.random.Generator"),
        "builtins.list",
    ),
    Family.ARRAY: ("numpy.ndarray",),
}
_FIRST_OWNERS = {Family.TEXT: ("builtins.str",), Family.TUPLE: ("builtins.list",)}
"""Whose methods come first, where the text may have told too little: `x.type(…)` gives a text or a tensor."""
_ANY_OWNER = (
    *("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer", "torch.optim.lr_scheduler.LRScheduler"),
    *("torch.Generator", "numpy.ndarray", "builtins.list", "builtins.str"),
)
_ARRAY_FIRST = ("numpy.ndarray", *(owner for owner in _ANY_OWNER if owner != "numpy.ndarray"))
_OF_NUMPY = frozenset({"axis", "keepdims", "ddof"})
"""Keywords by which a method of what may be a tensor or an array is told to be numpy's; torch takes them too."""
CALLABLE = (Family.MODULE, Family.UNKNOWN, Family.OBJECT)
"""What a value may be that is called."""
_OF_MANY = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, io.TextIOWrapper) for name in dir(kind) if name[0] != "_"
)
"""Methods of Python's own values, which what code has made may be."""
_LIST_METHODS = {"append": "python.append"}


_MAY_HOLD_NOTHING = frozenset({"torch.nn.Sequential"})
"""What takes any number of arguments, of which a canvas draws none as an empty list."""


class Arguments(Protocol):
    """What reads the expressions between the parentheses of a call.

    Attributes:
        inlined: the methods of the classes that were read.
    """

    inlined: Inlined

    def value(self, node: ast.expr) -> Given:
        """What an expression stands for."""

    def port(self, node: ast.expr) -> Port:
        """An expression as one port takes it."""

    def one(self, value: Given) -> Port:
        """A value as one port takes it."""

    def knows(self, name: str) -> bool:
        """Whether some statement above binds the name."""


class Calls:
    """Reads the calls of one text."""

    def __init__(self, expressions: Arguments, draft: GraphBuilder, modules: Modules) -> None:
        """Arguments are read by `expressions`."""
        self._expressions, self._draft, self._modules = expressions, draft, modules

    def read(self, node: ast.Call, names: tuple[str, ...]) -> WiredResult:
        """The node that a call adds.

        Raises:
            NotReadable: it calls what the catalogue does not have, or in a way that it does not take.
        """
        path = self._modules.path(node.func)
        if path is not None:
            self._modules.check(node.func)
            if path in _MAY_HOLD_NOTHING and not node.args and not node.keywords:
                nothing = at_position(ast.List([], ast.Load()), node)
                node.args = [at_position(ast.Starred(nothing, ast.Load()), node)]
            return self._bound(node, path, [], names)
        match node.func:
            case ast.Name(id=name) if name in self._draft.graph.definitions and not self._is_bound(name):
                return self._group(node, name, names)
            case ast.Name(id="print"):
                return self._bound(node, "builtins.print", [], names)
            case ast.Name(id="abs") if not self._is_bound("abs"):
                return self._bound(node, "operator.abs", [], names)
            case ast.Name(id=name) if load().get(f"builtins.{name}") is not None and not self._is_bound(name):
                return self._bound(node, f"builtins.{name}", [], names)
            case ast.Attribute(value=value, attr=word):
                return self._method(node, value, word, names)
            case _:
                return self._called(node, names)

    def _is_bound(self, name: str) -> bool:
        return self._expressions.knows(name)

    def _method(self, node: ast.Call, value: ast.expr, word: str, names: tuple[str, ...]) -> WiredResult:
        if reaches(node.func):
            raise _refused(node, NO_REACH)
        receiver = self._expressions.port(value)
        family = self._family(receiver)
        is_unsure = self._draft.has_code and family is Family.UNKNOWN and word in _OF_MANY
        if is_unsure or self._draft.is_foreign(receiver):
            return self._free_method(node, receiver, word, names)
        if family in (Family.TUPLE, Family.UNKNOWN) and word in _LIST_METHODS:
            return self._bound(node, _LIST_METHODS[word], [receiver], names)
        is_numpy = any(keyword.arg in _OF_NUMPY for keyword in node.keywords)
        any_owner = _ARRAY_FIRST if is_numpy else _ANY_OWNER
        owners = (*_FIRST_OWNERS[family], *any_owner) if family in _FIRST_OWNERS else _OWNERS.get(family, any_owner)
        last = (*LAST, "torch.nn.Module") if self._may_be_module(receiver) else LAST
        for owner in (*owners_of(self._maker(receiver)), *owners, *last):
            path = f"{owner}.{word}"
            if load().overloads(path):
                return self._bound(node, path, [receiver], names)
        if self._expressions.inlined.is_method(word):
            raise _refused(node, f"'.{word}(…)' is a method of a class, of which nothing says here that it is meant.")
        if self._is_of_code(receiver):
            return self._free_method(node, receiver, word, names)
        if family in CALLABLE:
            child = self._draft.node("python.attribute", {"object": receiver, "name": Written(word)}, nested=True)
            return self._called_with(node, CALL, [child], names)
        raise _refused(node, f"'.{word}(…)' is no method that a canvas has.{_nearest(f'{owners[0]}.{word}')}")

    def _family(self, value: Port) -> Family:
        """What a value is: what is moved may be a module as well as a tensor, where nothing says what it was."""
        known = self._draft.family(value)
        moved = self._moved(value)
        return known if known is not Family.TENSOR or self._is_tensor(moved) else Family.UNKNOWN

    def _source(self, value: Port) -> Node | None:
        """The node that gives a value, or what a loop carries of it."""
        if not isinstance(value, WiredResult):
            return None
        graph = self._draft.graph
        return graph.nodes.get(before_loops(graph, value.source, value.output)[0])

    def _is_tensor(self, value: Port | None) -> bool:
        return value is None or self._family(value) is Family.TENSOR

    def _moved(self, value: Port) -> Port | None:
        """What a value was before it was moved to where it is; None of what was not."""
        node = self._source(value)
        is_moved = node is not None and node.operator.partition(":")[0] in MOVES
        return self._draft.ports_of(node).get("self") if is_moved and node is not None else None

    def _may_be_module(self, value: Port) -> bool:
        """Whether a value is given by a call of what may be a class of modules, and was moved perhaps."""
        while (moved := self._moved(value)) is not None:
            value = moved
        node = self._source(value)
        called = self._draft.ports_of(node).get("module") if node is not None and node.operator == CALL else None
        return called is not None and self._draft.family(called) is not Family.MODULE

    def _free_method(self, node: ast.Call, receiver: Port, word: str, names: tuple[str, ...]) -> WiredResult:
        """A method of what code made: it may be anyone's, and do anything."""
        return self._called_with(node, FREE_METHOD, [receiver, Written(word)], names)

    def _is_of_code(self, value: Port) -> bool:
        """Whether code itself made a value."""
        if self._draft.of_code and self._family(value) is Family.UNKNOWN:
            return True
        maker = self._draft.maker(value) if isinstance(value, WiredResult) else None
        if maker is None:
            return False
        is_read = maker.operator == "python.attribute" and self._draft.is_foreign(value)
        return is_read or maker.operator == CODE

    def _called(self, node: ast.Call, names: tuple[str, ...]) -> WiredResult:
        if isinstance(node.func, ast.Name) and not self._is_bound(node.func.id):
            words = f"'{node.func.id}(…)' calls what no statement above binds and torch does not have."
            raise _refused(node, call_words(node.func.id) or words)
        callee = self._expressions.port(node.func)
        if self._family(callee) not in CALLABLE:
            raise _refused(node, f"'{ast.unparse(node.func)[:60]}' is nothing that can be called.")
        return self._called_with(node, FREE_CALL if self._is_of_code(callee) else CALL, [callee], names)

    def _called_with(self, node: ast.Call, key: str, before: list[Port], names: tuple[str, ...]) -> WiredResult:
        positional, keywords = self._arguments(node, before)
        maker = self._maker(before[0]) if key == CALL else None
        try:
            found = argument_binding.bind_call(load()[key], maker, positional, keywords, strict=False)
        except BindingError as error:
            raise _refused(node, str(error)) from None
        order = tuple(keywords) if maker is None and list(keywords) != sorted(keywords) else ()
        return self._node(_spread(node, found), names, order)

    def _maker(self, module: Port | None) -> Operator | None:
        maker = self._draft.maker(module) if isinstance(module, WiredResult) else None
        return row_of(self._draft.graph, maker) if maker is not None else None

    def _group(self, node: ast.Call, name: str, names: tuple[str, ...]) -> WiredResult:
        row = row_of_key(self._draft.graph, GROUP + name)
        assert row is not None
        positional, keywords = self._arguments(node, [])
        try:
            found = argument_binding.bind_to(row, positional, keywords)
        except BindingError as error:
            raise _refused(node, str(error)) from None
        return self._node(_spread(node, found), names)

    def _bound(self, node: ast.Call, path: str, before: list[Port], names: tuple[str, ...]) -> WiredResult:
        if not load().overloads(path) and path not in load():
            if self._modules.calls_anything(path):
                return self._called_with(node, FREE_PATH, [Written(quote(path))], names)
            words = f"'{path}' is nothing that a canvas has.{_nearest(path)}"
            raise _refused(node, call_words(path) or words)
        if path in PROCESSES and self._is_beyond_row(node, path, names):
            return self._called_with(node, FREE_PATH, [Written(quote(path))], names)
        _name_out(node, path)
        say_reduction(node, path)
        node = _gathered(node, path, len(before))
        positional, keywords = self._arguments(node, before)
        try:
            found = argument_binding.bind(load(), path, positional, keywords, strict=False)
        except BindingError as error:
            raise _refused(node, str(error)) from None
        return self._node(_spread(node, found), names)

    def _is_beyond_row(self, node: ast.Call, path: str, names: tuple[str, ...]) -> bool:
        """Whether a call of processes binds, or is given, what its row has not: ``async_op=True``."""
        row = load()[path]
        words = [keyword.arg for keyword in node.keywords]
        is_known = all(word is not None and row.parameter(word) is not None for word in words)
        waits = any(word == "async_op" for word in words)
        return self._modules.calls_anything(path) and (waits or not is_known or bool(names and not row.results))

    def _arguments(self, node: ast.Call, before: list[Port]) -> tuple[list[Given], dict[str, Given]]:
        positional: list[Given] = [*before, *(self._argument(argument) for argument in node.args)]
        if any(isinstance(argument, ast.Starred) for argument in node.args[:-1]):
            raise _refused(node, "`*` stands last: write the other arguments out.")
        keywords: dict[str, Given] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _refused(keyword.value, "`**` unpacks while it runs: write the arguments out.")
            keywords[keyword.arg] = self._argument(keyword.value)
        return positional, keywords

    def _argument(self, node: ast.expr) -> Given:
        if isinstance(node, ast.Starred):
            several = self._expressions.port(node.value)
            if not isinstance(several, WiredResult):
                several = self._draft.node("python.list", {"items": several}, nested=True)
            return WiredResult(family=Family.TUPLE, source=several.source, output=several.output)
        return self._expressions.value(node)

    def _node(self, found: Binding, names: tuple[str, ...], order: tuple[str, ...] = ()) -> WiredResult:
        ports = {path: self._port(given) for path, given in found.ports.items()}
        operator = found.operator
        positional = positional_beyond_style(operator, found.positional, frozenset(_roots(ports)))
        if order:  # nobody knows whom it calls, who may ask for the order of keywords
            positional = (*(parameter.name for parameter in load()[operator.key].parameters), *order)
        fits = len(names) < 2 or self._gives(operator, ports) == len(names)
        bound = names if fits else ()
        made = self._draft.node(
            operator.key, ports, names=bound, lengths=found.lengths, positional=positional, nested=not bound
        )
        return made if fits else self._draft.node("python.tuple", {"items": made}, names=names)

    def _gives(self, operator: Operator, ports: dict[str, Port]) -> int:
        """How many results can have names of their own; 0 when their number is not fixed."""
        if operator.face is not Face.CALL:
            return 0 if operator.varying else len(operator.results)
        return len(call_results(self._maker(ports.get(operator.parameters[0].name))))

    def _port(self, given: Given) -> Port:
        return self._expressions.one(given)


def _name_out(node: ast.Call, path: str) -> None:
    """`np.add(a, 1, a)` is `np.add(a, 1, out=a)`: what a function of numpy writes into may stand last."""
    row = next((row for row in load().overloads(path) if row.fills), None)
    if row is None or not path.startswith("numpy.") or any(keyword.arg == OUT for keyword in node.keywords):
        return
    places = [p for p in row.parameters if not p.keyword_only]
    if all(p.positional_only for p in places) and len(node.args) == len(places) + 1:
        *node.args, last = node.args
        node.keywords = [ast.keyword(OUT, last), *node.keywords]


def _gathered(node: ast.Call, path: str, before: int) -> ast.Call:
    """`x.view(*sizes, 2)` as `x.view(*[*sizes, 2])`: one list brings all elements of what takes any number."""
    rows = load().overloads(path)
    places = [k - before for row in rows for k, p in enumerate(row.parameters) if p.variadic and k >= before]
    if not places or not any(isinstance(argument, ast.Starred) for argument in node.args[places[0] :]):
        return node
    kept = node.args[: places[0]]
    several = node.args[places[0] :]
    if len(several) == 1 or any(isinstance(argument, ast.Starred) for argument in kept):
        return node
    first = several[0]
    made = ast.copy_location(ast.List(several, ast.Load()), first)
    made.end_lineno = made.end_col_offset = None
    starred = ast.copy_location(ast.Starred(made, ast.Load()), first)
    return ast.copy_location(ast.Call(node.func, [*kept, starred], node.keywords), node)


def _spread(node: ast.Call, found: Binding) -> Binding:
    """The binding of `f(*several)`: the list brings all elements of the parameter that takes any number."""
    if not node.args or not isinstance(node.args[-1], ast.Starred):
        return found
    name = next((p.name for p in found.operator.parameters if p.variadic), "")
    ports = dict(found.ports)
    lengths = dict(found.lengths)
    if lengths.pop(name, None) == 1 and f"{name}.0" in ports:
        ports[name] = ports.pop(f"{name}.0")
    if name not in ports:
        raise _refused(node.args[-1], f"`*` unpacks while it runs: {found.operator.title} takes arguments one by one.")
    return msgspec.structs.replace(found, ports=ports, lengths=lengths)


def _roots(ports: dict[str, Port]) -> list[str]:
    return [path.partition(".")[0] for path in ports]


@lru_cache(maxsize=512)
def _nearest(path: str) -> str:
    """The row that was meant, when its last word is a slip of the pen away; a far guess would mislead."""
    owner, _, word = path.rpartition(".")
    words: dict[str, str] = {}
    for home, _, last in (row.path.rpartition(".") for row in load()):
        if last not in words or home == owner:
            words[last] = f"{home}.{last}"
    near = get_close_matches(word[:60], words, n=1, cutoff=0.8)
    return f" Did you mean '{words[near[0]]}'?" if near else ""


def _refused(node: ast.AST, reason: str) -> NotReadable:
    return NotReadable(reason, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
