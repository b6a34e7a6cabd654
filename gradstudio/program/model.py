"""What a compiled document is: a nested list of steps, free of pictures.

The engine executes exactly these texts; the exported script is made of the same ones.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated

import msgspec

from gradstudio.graph.model import ItemId

Place = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A line, a column or an index; checked where a program is read from the pipe."""


class Span(msgspec.Struct, frozen=True):
    """Where a node's expression (or a block's head) stands in the script.

    Attributes:
        line, end_line: 1-based.  column, end_column: 0-based, in characters.
    """

    node: ItemId
    line: Place
    column: Place
    end_line: Place
    end_column: Place


class Statement(msgspec.Struct, frozen=True, kw_only=True, tag="statement", omit_defaults=True):
    """One node on a line of its own (parts too), as a traced run executes it.

    Attributes:
        node: the node; `operator` its key.
        text: one logical line of Python, unindented; parts stand under their address.
        names: the names it binds, in order, "_" included; a part binds its address.
        address: how reports call it: its name, or "backward_1".
        line: 1-based line of the exported script that holds it.
        repeated: semantics §5; False is set-up.
        is_part: printed inside another statement of the script; its address is a name only
            the traced run binds, deleted after its user ran.
        drops: addresses of parts to delete after this statement.
        backward: `t.backward()`, `torch.autograd.backward`, `torch.autograd.grad`.
        writes: Python expressions of the objects it overwrites in place (``x``, ``x.grad``).
        rebinds: it assigns names (False for `x += 1` on tensors, calls for their effect).
        result: Python expression of its value when it binds no name but has one worth showing
            (``x`` after ``x += 1``); "" when there is none.
        inputs: (port path, Python text) of every argument that is an expression over names,
            for operands in error reports.
        sources: for each of them, the output that the wire begins at: (item, number).
    """

    node: ItemId
    operator: str
    text: str
    address: str
    line: Place
    names: tuple[str, ...] = ()
    repeated: bool = False
    is_part: bool = False
    drops: tuple[str, ...] = ()
    backward: bool = False
    writes: tuple[str, ...] = ()
    rebinds: bool = True
    result: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[ItemId, Place], ...] = ()


class BlockStatement(msgspec.Struct, frozen=True, kw_only=True, tag="block", omit_defaults=True):
    """A Python block: `head` without its colon's body, e.g. ``with torch.no_grad():``.

    Attributes:
        kind: a block kind; for "group" the head is "" and the body is plain statements.
        context: for `with` kinds, the expression after ``with``.
        iterable: for `for`, the expression after ``in``, "" where it is endless; `variable` the loop variable.
        condition: for `if`, the expression.
        drops: addresses of parts in its head, to delete after the block ended.
        address: how reports call it (``for_1``).
    """

    block: ItemId
    kind: str
    line: Place
    body: "tuple[Statement | BlockStatement, ...]" = ()
    context: str = ""
    variable: str = ""
    iterable: str = ""
    condition: str = ""
    repeated: bool = False
    drops: tuple[str, ...] = ()
    address: str = ""


class CodeLines(msgspec.Struct, frozen=True, omit_defaults=True):
    """Python of a program that is not drawn, on one node.

    Attributes:
        address: how reports call the node.
        line: 1-based line of the exported script where it begins.
        text: as it is executed.
        drawn: of functions whose statements are drawn: at which lines of the text, from 0, which items begin.
    """

    node: ItemId
    address: str
    line: int
    text: str
    drawn: tuple[tuple[int, ItemId], ...] = ()


class Incomplete(msgspec.Struct, frozen=True):
    """A node that cannot run, and why.

    An empty required port, an unknown operator, an input that cannot run, ...
    """

    node: ItemId
    reason: str
    line: Place = 0


class Inside(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A definition (semantics §15) as a traced run executes what is in it.

    Attributes:
        name: of the function, or of the class.
        inputs: its inputs, settings among them; `taken` those that a call takes.
        head: the parameters of the function, or of the class's `forward`, as they are printed, without `self`.
        making: those of its `__init__`.
        setup: the statements of `__init__`; `stores` the settings that it keeps as attributes.
        members: what else stands in the class, as code, which no run goes through.
        body: the statements of the function, or of `forward`.
        results: a Python expression for each output.
        spans: its items in the script.
    """

    name: str
    inputs: tuple[str, ...]
    taken: tuple[str, ...]
    outputs: tuple[str, ...]
    head: str
    body: tuple[Statement | BlockStatement, ...]
    results: tuple[str, ...]
    is_module: bool = False
    making: str = ""
    setup: tuple[Statement | BlockStatement, ...] = ()
    stores: tuple[str, ...] = ()
    members: tuple[Statement, ...] = ()
    spans: tuple[Span, ...] = ()


class Program(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A compiled document.

    Attributes:
        script: the text that `export` writes, whole, with its report at the end.
        code: the part of `script` up to the report: what a plain run executes. Line numbers agree.
        prelude: imports and header, executed once before the statements.
        statements: what a traced run executes after `prelude`.
        spans: every node and block in `script`, nested parts inside their users.
        seed: of the header; None means the engine draws one.
        device: the header's word ("cpu", "auto", "cuda:0").
        tensors: digests of the stored tensors it loads.
        insides: the definitions that can be called, each behind those that it calls itself.
        codes: all that is not drawn: without it a program computes and does nothing else.
        trusted: what a yes is to: these, and what is drawn and works on what they made, or names something in a text.
        root: address of the tensor that an appended ``.backward()`` would use; "" if none,
            with the reason in `rootless`.
    """

    script: str
    code: str
    prelude: str
    statements: tuple[Statement | BlockStatement, ...]
    spans: tuple[Span, ...]
    seed: int | None
    device: str
    tensors: tuple[str, ...] = ()
    insides: tuple[Inside, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()
    codes: tuple[CodeLines, ...] = ()
    trusted: tuple[CodeLines, ...] = ()
    root: str = ""
    rootless: str = ""

    @cached_property
    def texts(self) -> dict[ItemId, str]:
        """The statement of each node of the program's own text, in their order."""
        return {statement.node: statement.text for statement in flatten_statements(self.statements)}


def flatten_statements(statements: Iterable[Statement | BlockStatement]) -> Iterator[Statement]:
    """The statements in their order, those of blocks among them."""
    for statement in statements:
        if isinstance(statement, BlockStatement):
            yield from flatten_statements(statement.body)
        else:
            yield statement


def has_backward(statements: Iterable[Statement | BlockStatement]) -> bool:
    """Whether a backward statement stands anywhere in them."""
    return any(statement.backward for statement in flatten_statements(statements))
