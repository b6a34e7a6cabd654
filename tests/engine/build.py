"""Programs for tests, made from Python text: one node a line, whose id is "n" and the line's number.

What the compiler decides from the catalogue is decided here by a few plain rules, so that the
engine is tested without the rooms above it. Parts are not made: `statement` makes those by hand.
"""

import ast
import textwrap
from collections.abc import Iterable

from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Program, Span, Statement

PRELUDE = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"
PRELUDE_LINES = PRELUDE.count("\n")
BACKWARDS = ("backward", "torch.autograd.grad", "torch.autograd.backward")


def node(line: int) -> ItemId:
    """Id of the node on a line of the text (1-based, its first line is 1)."""
    return ItemId(f"n{line}")


def program(text: str, *, seed: int | None = 0, tensors: Iterable[str] = ()) -> Program:
    """A program of the statements in `text`."""
    text = textwrap.dedent(text).strip("\n")
    header = "" if seed is None else f"torch.manual_seed({seed})\n"
    offset = PRELUDE_LINES + bool(header)
    code = f"{PRELUDE}{header}{text}\n"
    reading = _Reading(offset)
    statements = reading.body(ast.parse(text).body, "")
    return Program(
        script=code, code=code, prelude=PRELUDE + header, statements=statements, spans=tuple(reading.spans),
        seed=seed, device="cpu", tensors=tuple(tensors), rootless="nothing here requires grad",
    )  # fmt: skip


class _Reading:
    def __init__(self, offset: int) -> None:
        self.offset, self.spans = offset, list[Span]()
        self.tracked: set[str] = set()
        self.addresses: dict[str, int] = {}

    def body(self, tree: list[ast.stmt], around: str) -> tuple[Statement | BlockStatement, ...]:
        return tuple(self.one(statement, around) for statement in tree)

    def one(self, tree: ast.stmt, around: str) -> Statement | BlockStatement:
        item = node(tree.lineno)
        self.spans.append(
            Span(
                item,
                tree.lineno + self.offset,
                tree.col_offset,
                (tree.end_lineno or 0) + self.offset,
                tree.end_col_offset or 0,
            )
        )
        line = tree.lineno + self.offset
        match tree:
            case ast.With(items=[ast.withitem(context_expr=context)], body=body):
                kind = next(
                    (k for k in ("no_grad", "enable_grad", "inference_mode", "autocast") if k in ast.unparse(context)),
                    "",
                )
                return BlockStatement(
                    block=item, kind=kind, line=line, context=ast.unparse(context), body=self.body(body, kind)
                )
            case ast.For(target=target, iter=iterable, body=body):
                variable = ast.unparse(target).strip("()")
                return BlockStatement(
                    block=item, kind="for", line=line, variable=variable, iterable=ast.unparse(iterable),
                    body=self.body(body, "for"), repeated=True,
                )  # fmt: skip
            case ast.If(test=test, body=body):
                return BlockStatement(
                    block=item, kind="if", line=line, condition=ast.unparse(test), body=self.body(body, around)
                )
            case _:
                return self.statement(tree, item, line, around)

    def statement(self, tree: ast.stmt, item: ItemId, line: int, around: str) -> Statement:
        text = ast.unparse(tree)
        names = _names(tree)
        backward = any(word in text for word in BACKWARDS)
        reads = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - set(names)
        if isinstance(tree, ast.Assign) and any(
            isinstance(n, ast.Name) and n.id in names for n in ast.walk(tree.value)
        ):
            reads |= set(names)
        setup_effect = "requires_grad_()" in text or ".eval()" in text
        fresh = not reads & self.tracked and around != "for"
        leaf = "requires_grad" in text or "nn." in text.replace("nn.functional", "") or "Parameter" in text
        repeated = not setup_effect and (not fresh or backward or ".grad" in text or "print(" in text)
        if "optim." in text:
            repeated = around == "for"
        if repeated or leaf:
            self.tracked |= set(names) | ({_written(tree)} if setup_effect else set())
        return Statement(
            node=item, operator=_operator(tree), text=text, line=line, names=names,
            address=names[0] if names else self.address(tree), repeated=repeated, backward=backward, writes=_writes(tree),  # noqa: E501
            result=_written(tree) if isinstance(tree, ast.AugAssign) or _in_place(tree) else "",
            inputs=_inputs(tree),
        )  # fmt: skip

    def address(self, tree: ast.stmt) -> str:
        word = _operator(tree).rpartition(".")[2]
        self.addresses[word] = self.addresses.get(word, 0) + 1
        return f"{word}_{self.addresses[word]}"


def _names(tree: ast.stmt) -> tuple[str, ...]:
    if not isinstance(tree, ast.Assign):
        return ()
    target = tree.targets[0]
    if isinstance(target, ast.Name):
        return (target.id,)
    return tuple(e.id for e in target.elts if isinstance(e, ast.Name)) if isinstance(target, ast.Tuple) else ()


def _call(tree: ast.stmt) -> ast.Call | None:
    value = getattr(tree, "value", None)
    return value if isinstance(value, ast.Call) else None


_BINARY = {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "Pow": "pow", "MatMult": "matmul", "Mod": "mod"}
_LONG = {"F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim", "torch": "torch"}


def _operator(tree: ast.stmt) -> str:
    value = getattr(tree, "value", None)
    match value:
        case ast.Call(func=ast.Name(id="print")):
            return "builtins.print"
        case ast.Call(func=ast.Name()):
            return "python.call"
        case ast.Call(func=func):
            first, _, rest = ast.unparse(func).partition(".")
            return (
                f"{_LONG[first]}.{rest}"
                if first in _LONG and "(" not in rest
                else f"torch.Tensor.{rest.rpartition('.')[2]}"
            )
    if isinstance(tree, ast.AugAssign):
        return f"operator.i{_BINARY.get(type(tree.op).__name__, 'other')}"
    match value:
        case ast.BinOp(op=op):
            return f"operator.{_BINARY.get(type(op).__name__, 'other')}"
        case ast.Compare():
            return "operator.gt"
        case ast.Subscript():
            return "operator.getitem"
        case ast.Attribute(attr=attribute):
            return f"torch.Tensor.{attribute}"
        case ast.Name():
            return "python.alias"
        case ast.Tuple() | ast.List():
            return "python.tuple" if isinstance(value, ast.Tuple) else "python.list"
        case _:
            return "python.literal"


def _in_place(tree: ast.stmt) -> bool:
    call = _call(tree)
    return (
        isinstance(tree, ast.Expr)
        and call is not None
        and isinstance(call.func, ast.Attribute)
        and call.func.attr.endswith("_")
        and not ast.unparse(call.func).startswith("nn.init.")
    )


def _written(tree: ast.stmt) -> str:
    if isinstance(tree, ast.AugAssign):
        return ast.unparse(tree.target)
    call = _call(tree)
    return ast.unparse(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""


def _writes(tree: ast.stmt) -> tuple[str, ...]:
    if isinstance(tree, ast.AugAssign) or _in_place(tree):
        return (_written(tree),)
    return (ast.unparse(tree.targets[0]),) if isinstance(tree, ast.Assign) and not _names(tree) else ()


def _inputs(tree: ast.stmt) -> tuple[tuple[str, str], ...]:
    value = getattr(tree, "value", None)
    if isinstance(value, ast.BinOp):
        return (("input", ast.unparse(value.left)), ("other", ast.unparse(value.right)))
    if isinstance(tree, ast.AugAssign):
        return (("input", ast.unparse(tree.target)), ("other", ast.unparse(tree.value)))
    if isinstance(value, ast.Name):
        return (("value", value.id),)
    if isinstance(value, ast.List | ast.Tuple):
        return tuple((f"elements.{place}", ast.unparse(element)) for place, element in enumerate(value.elts))
    if isinstance(value, ast.Subscript):
        return (("input", ast.unparse(value.value)),)
    if isinstance(value, ast.Call):
        receiver: tuple[tuple[str, str], ...] = ()
        if isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Name):
            receiver = (("self", value.func.value.id),)
        return receiver + tuple((f"arg.{place}", ast.unparse(argument)) for place, argument in enumerate(value.args))
    return ()
