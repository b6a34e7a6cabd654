"""The definitions of a printed program in the order in which another prints them: it follows from who calls whom."""

import ast

from gradstudio.program.original.statement_lines import is_definition
from gradstudio.program.reading.code.code_statement import last_line


def ordered_like(code: str, other: str) -> str:
    """A program whose definitions stand as those of the same names do in another."""
    parts, order = _parts(code), {name: place for place, (name, _) in enumerate(_parts(other)[1:])}
    if len(parts) < 3 or [name for name, _ in parts[1:]] == list(order):
        return code
    (_, lines), *definitions = parts
    rest = code.split("\n")[sum(len(part) for _, part in parts) :]
    definitions.sort(key=lambda part: order.get(part[0], len(order)))
    return "\n".join([*lines, *(line for _, part in definitions for line in part), *rest])


def _parts(code: str) -> list[tuple[str, list[str]]]:
    """What stands above the definitions of a program, and each of them by its name, with the comments above it."""
    lines, end = code.split("\n"), 0
    parts: list[tuple[str, list[str]]] = [("", [])]
    for one in ast.parse(code).body:
        if not is_definition(one):
            if len(parts) > 1:
                break
            end = last_line(one)
            parts = [("", lines[:end])]
            continue
        parts.append((getattr(one, "name", ""), lines[end : last_line(one)]))
        end = last_line(one)
    return parts
