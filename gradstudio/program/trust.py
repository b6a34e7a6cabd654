"""What a person trusts when they trust a program: all of its undrawn Python, by one digest."""

import ast
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import DEFINITION_INPUTS, Graph, ItemId
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_records import FILES, FREE, LOADER, PROCESSES, UNDRAWN
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.program.model import BlockStatement, CodeLines, Inside, Program, Statement, flatten_statements

WORKERS, WORKERS_PLACE = "num_workers", 5
"""The argument of a loader of data that says how many processes it starts."""
NUMBER_WIDTH = 5
"""Columns of the number before a line of code."""
_MEETS = frozenset({"init_method", "store", "pg_options"})
"""Arguments that may name a file, or anything, as the place where processes meet."""
_JOIN = "init_process_group"
_NEED = FILES | PROCESSES | UNDRAWN
_MAY_NEED = _NEED | {LOADER}
_OF_PYTHON = "python."
_HARMLESS = frozenset(f"{_OF_PYTHON}{word}" for word in "tuple unpack literal stored append assert".split())
"""Drawn Python that does nothing with what it is given but hold it."""
_SILENT = frozenset({"builtins.print", "python.stored"})
"""Drawn statements whose texts go nowhere."""
NOT_TRUSTED = (
    "This program holds Python that is not drawn. It can do whatever you can: read and write your files, connect, "
    "start programs."
)


Drawn = Mapping[ItemId, tuple[tuple[int, ItemId], ...]]
"""By the node of undrawn Python, the lines of its text at which drawn items begin."""


def code_lines(
    graph: Graph, statements: Iterable[Statement | BlockStatement], insides: Sequence[Inside], drawn: Drawn
) -> tuple[tuple[CodeLines, ...], tuple[CodeLines, ...]]:
    """The undrawn Python of a program in the order of its statements, definitions behind it; and all that a yes is to.

    That is what is drawn and works on what code made, or says in a text what is to be done, among it.
    """
    bodies = [(graph, [*flatten_statements(statements)])]
    bodies += [(graph.definitions[inside.name].graph, _statements_of(inside)) for inside in insides]
    codes = {(at, one.node) for at, (_, body) in enumerate(bodies) for one in body if needs_yes(one)}
    if not codes:
        return (), ()
    of_code = FREE | {GROUP + name for name in _definitions_that(insides, lambda one: one.operator in FREE)}
    found = [
        (CodeLines(one.node, one.address, one.line, one.text, drawn.get(one.node, ())), (at, one.node) in codes)
        for at, (inner, body) in enumerate(bodies)
        for made in [_made_by_code(inner, of_code)]
        for one in body
        if (at, one.node) in codes or _may_do_more(one, inner, made)
    ]
    return tuple([lines for lines, is_code in found if is_code]), tuple([lines for lines, _ in found])


def _made_by_code(graph: Graph, of_code: Container[str]) -> set[ItemId]:
    """The items whose values may be, or hold, what code made; in a definition what is handed to it, too."""
    ways = [DEFINITION_INPUTS, *[item for item, node in graph.nodes.items() if node.operator in of_code]]
    found = set(ways)
    while ways:
        targets = {wire.target for wire in graph.wires_from(ways.pop())} - found
        found |= targets
        ways += targets
    return found


def _may_do_more(statement: Statement, graph: Graph, made: set[ItemId]) -> bool:
    """Whether a drawn statement may do what code can, or says in a text what is to be done."""
    operator = statement.operator
    if operator in FREE:
        return True
    if operator == CALL:
        return not statement.sources or statement.sources[0][0] in made
    if any(source in made for source, _ in statement.sources):
        is_called = any(wire.port == CALLED for wire in graph.wires_from(statement.node))
        if is_called or (operator.startswith(_OF_PYTHON) and operator not in _HARMLESS):
            return True
    elif operator.startswith("torch."):
        return False
    return operator not in _SILENT and ('"' in statement.text or "'" in statement.text)


def needs_yes(statement: Statement) -> bool:
    """Whether a statement does more than compute: undrawn Python, files, other processes, a loader that starts some."""
    if statement.operator != LOADER:
        return statement.operator in _NEED
    calls = [part for part in ast.walk(ast.parse(statement.text)) if isinstance(part, ast.Call)]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == WORKERS]
    return any(not isinstance(one, ast.Constant) or bool(one.value) for one in given) or any(
        len(call.args) > WORKERS_PLACE for call in calls
    )


def definitions_with_code(program: Program) -> frozenset[str]:
    """The definitions that hold undrawn Python, or what else needs a yes, or that call one of those."""
    return _definitions_that(program.insides, needs_yes)


def _definitions_that(insides: Iterable[Inside], do: Callable[[Statement], bool]) -> frozenset[str]:
    """The definitions that hold such a statement, or call one that does."""
    found: set[str] = set()
    for inside in insides:  # each behind those that it calls itself
        if any(do(one) or one.operator.removeprefix(GROUP) in found for one in _statements_of(inside)):
            found.add(inside.name)
    return frozenset(found)


def _statements_of(inside: Inside) -> list[Statement]:
    return [*flatten_statements((*inside.setup, *inside.body, *inside.members))]


def may_need_yes(graph: Graph) -> bool:
    """Whether a document may hold such a statement anywhere, definitions and what is muted included."""
    return any(node.operator in _MAY_NEED for one in graphs_of(graph) for node in one.nodes.values())


def deeds_of(texts: Iterable[str]) -> tuple[str, ...]:
    """What statements do beside computing, in words; () where one of them may do anything."""
    found = [_deed(text) for text in texts]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def _deed(text: str) -> str:
    """What a call of files, or of a loader of data, does; "" for anything else, and where it is given calls."""
    tree = syntax_of(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    statement = tree.body[0] if len(tree.body) == 1 else None
    if len(calls) != 1 or not isinstance(statement, ast.Expr | ast.Assign) or statement.value is not calls[0]:
        return ""
    call = calls[0]
    match ast.unparse(call.func):
        case "torch.save":
            return f"writes {_file(call, 1)}"
        case "torch.load" if all(map(_is_harmless, call.keywords)) and len(call.args) <= 2:
            return f"reads {_file(call, 0)}"
        case "DataLoader" | "torch.utils.data.DataLoader" | "data.DataLoader" | "utils.data.DataLoader":
            return "starts processes that fetch data"
        case path if _full(path) in PROCESSES and _meets_where_usual(call):
            return "connects to other processes"
        case _:
            return ""


def _full(path: str) -> str:
    """The whole path of what is called through a name of the script's head."""
    return f"torch.{path}" if path.startswith("nn.") else path


def _meets_where_usual(call: ast.Call) -> bool:
    """Whether processes meet where their environment says, and not at a place, or a file, that the call names."""
    words = {word.arg for word in call.keywords}
    is_spelled = None not in words and not any(isinstance(one, ast.Starred) for one in call.args)
    return is_spelled and words.isdisjoint(_MEETS) and (len(call.args) <= 1 or not _ends(call, _JOIN))


def _ends(call: ast.Call, word: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == word


def _is_harmless(given: ast.keyword) -> bool:
    """Whether loading with this argument runs nothing that lies in the file."""
    is_weights = isinstance(given.value, ast.Constant) and given.value.value is True
    return given.arg in ("f", "map_location", "mmap") or (given.arg == "weights_only" and is_weights)


def _file(call: ast.Call, place: int) -> str:
    given = [*call.args[place : place + 1], *(word.value for word in call.keywords if word.arg == "f")]
    if not given:
        return "a file"
    path = given[0]
    named = isinstance(path, ast.Constant) and isinstance(path.value, str)
    return f"“{path.value}”" if named else f"the file of {ast.unparse(path)}"  # type: ignore[attr-defined]  # a constant


def need_words(texts: Sequence[str]) -> str:
    """Why a program with these lines needs a yes."""
    deeds = deeds_of(texts)
    if not deeds:
        return NOT_TRUSTED
    return f"This program does more than compute: it {' and '.join(deeds)}. For that it runs without walls."


def code_digest(program: Program) -> str:
    """A number for all the code of a program and what works with it: another one where any of it is, or its order."""
    return _digest([one.text for one in program.trusted])


def untrusted_code(
    program: Program, shown: Callable[[CodeLines], tuple[tuple[int, ...], str]]
) -> tuple[list[dict[str, Any]], str, str]:
    """The code of a program that nobody has said yes to: as data, why it needs one, and in words with its lines.

    `shown`: the numbers of the lines of a code, and these lines.
    """
    counted = sorted([(one.address, *shown(one)) for one in program.trusted], key=lambda one: one[1])
    data = [{"node": address, "line": numbers[0], "text": text} for address, numbers, text in counted]
    once = dict.fromkeys(one[1:] for one in counted)  # one line may hold several calls
    words = need_words([one.text for one in program.codes])
    return data, words, "\n\n".join([f"{words} These lines need your yes, --trust:", *numbered_runs(once)])


def numbered_runs(codes: Iterable[tuple[Sequence[int], str]]) -> list[str]:
    """Codes with the numbers of their lines; one text of those between which no other line stands."""
    runs: list[list[str]] = []
    last = 0
    for numbers, code in codes:
        if not runs or not last <= numbers[0] <= last + 1:
            runs.append([])
        runs[-1] += numbered_lines(code, numbers)
        last = numbers[-1]
    return ["\n".join(run) for run in runs]


def numbered_lines(code: str, numbers: Iterable[int]) -> tuple[str, ...]:
    """The lines of a code behind their numbers, with every sign in them to be seen."""
    lines = zip(numbers, code.split("\n"), strict=True)
    return tuple(f"{number:>{NUMBER_WIDTH}}  {visible(line)}".rstrip() for number, line in lines)


def visible(line: str) -> str:
    """A line of code in which nothing hides: what turns the direction of text, or has no width, is spelled."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() or sign == "\t" else ascii(sign)[1:-1] for sign in line)


def _digest(texts: Iterable[str]) -> str:
    import hashlib

    total = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()
