"""Parts of undrawn Python whose statements are drawn: in the code stands where they belong, and no more.

`def step(self, x):` stays as it was typed, and below it a line says which definition of the program its body is.
Nothing drawn calls such a definition: code does, by the function. What is no function's stands in the code by the
names that it binds there: ``x = y = ...  # drawn: loop()``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gradstudio.graph.model import Node
from gradstudio.graph.text.code_records import code_of, is_code, with_code
from gradstudio.graph.text.code_text import indented
from gradstudio.late_pattern import late

CALLED = "()"
"""How the name of such a definition ends: no other is called so, since none can be called under it."""
_LINE = late(r"^([ \t]*)((?:\w+ = )*)\.\.\.  # drawn: (\S+\(\))$")


class BodyPlace(NamedTuple):
    """Where a body belongs in a code.

    Attributes:
        line: from 0; `indent` what stands ahead of it.
        name: of the definition.
        binds: the names that it binds around it.
    """

    line: int
    indent: str
    name: str
    binds: tuple[str, ...] = ()


def body_name(path: str) -> str:
    """The name of the definition that is the body of a function: ``Trainer.step()``."""
    return path + CALLED


def is_body(name: str) -> bool:
    """Whether a definition is the body of a function in code, and has no call that is drawn."""
    return name.endswith(CALLED)


def body_line(indent: str, name: str, binds: Sequence[str] = ()) -> str:
    """The line that stands in a code for a body, which binds names there where it is no function's."""
    targets = "".join(f"{one} = " for one in binds)
    return f"{indent}{targets}...  # drawn: {name}"


def body_places(code: str) -> Iterator[BodyPlace]:
    """Where bodies belong in a code."""
    if "# drawn: " not in code:
        return
    for number, line in enumerate(code.split("\n")):
        if found := _LINE.match(line):
            yield BodyPlace(number, found[1], found[3], tuple(found[2].split(" = ")[:-1]))


def bodies_in(node: Node) -> tuple[str, ...]:
    """The definitions that are bodies of functions in a node's code."""
    return tuple(place.name for place in body_places(code_of(node))) if is_code(node) else ()


def bound_around(nodes: Iterable[Node]) -> dict[str, tuple[str, ...]]:
    """By the name of a definition in the code of nodes, the names that it binds around it."""
    codes = [code_of(node) for node in nodes if is_code(node)]
    return {place.name: place.binds for code in codes for place in body_places(code) if place.binds}


def with_body_names(node: Node, called: Mapping[str, str]) -> Node:
    """The node with other names for bodies in its code."""
    if all(called.get(name, name) == name for name in bodies_in(node)):
        return node
    lines = code_of(node).split("\n")
    for place in body_places(code_of(node)):
        lines[place.line] = body_line(place.indent, called.get(place.name, place.name), place.binds)
    return with_code(node, "\n".join(lines))


def with_bodies(code: str, bodies: Mapping[str, Sequence[str]]) -> str:
    """The code with the lines of bodies in their places."""
    lines = code.split("\n")
    for place in reversed(list(body_places(code))):
        if place.name in bodies:
            lines[place.line : place.line + 1] = indented("\n".join(bodies[place.name]), place.indent)
    return "\n".join(lines)
