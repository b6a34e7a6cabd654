"""What the file's records cannot say of single fields: names, literals, seeds. Each problem is a `Fault`."""

import contextlib
import functools
import keyword

from gradstudio.document.errors import BadField, UnreadableFile
from gradstudio.document.gsg.file_records import DefinitionRecord, ForRecord, HeaderRecord, Item, NodeRecord
from gradstudio.document.gsg.json_position import Step
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import DOCUMENT_DEVICE
from gradstudio.graph.names import check
from gradstudio.graph.text.code_records import CODE, READ, bound_reason
from gradstudio.graph.text.drawn_bodies import CALLED, is_body
from gradstudio.graph.text.literal_text import NotALiteral, spell
from gradstudio.graph.text.record_checks import DEVICE_KINDS
from gradstudio.late_pattern import late
from gradstudio.operators.calls.call_signature import is_argument_name
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import element_parameter
from gradstudio.operators.literals.parser import LiteralError, parse, parse_any
from gradstudio.operators.literals.torch_names import ATTRIBUTE
from gradstudio.operators.model import Face, Kind, Operator, Parameter

SMALLEST_SEED, LARGEST_SEED = -(2**63), 2**64 - 1
Where = tuple[Step, ...]
_PLAIN = late(r"(?:-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,16})?|True|False|None)\Z")


class Fault(Exception):
    """A problem at a path of the file; the reader turns it into an error with line and column."""

    def __init__(self, words: str, where: Where, kind: type[UnreadableFile] = BadField) -> None:
        """Hold the reason, its path and the error to raise."""
        super().__init__(words)
        self.words, self.where, self.kind = words, where, kind


def check_header(header: HeaderRecord) -> None:
    """Refuse a seed that torch cannot take.

    Raises:
        Fault: with the words.
    """
    if header.seed is not None and not SMALLEST_SEED <= header.seed <= LARGEST_SEED:
        raise Fault("the seed is outside of what torch takes (-2⁶³ … 2⁶⁴ - 1)", ("header", "seed"))


def check_item(item: Item, where: Where) -> None:
    """Refuse names that are no names and literals that are not literals.

    Raises:
        Fault: with the words.
    """
    _check_id(item.id, (*where, "id"))
    if isinstance(item, NodeRecord) and item.operator == CODE:
        if problem := bound_reason(tuple(item.names)):
            raise Fault(problem, (*where, "names"))
    elif isinstance(item, NodeRecord):
        check_names(item.names, (*where, "names"))
    else:
        check_names(item.carried, (*where, "carried"))
        check_names([item.variable] if item.variable else [], (*where, "variable"), single=True)
        if item.variable and not isinstance(item, ForRecord):
            raise Fault("only a for block has a loop variable", (*where, "variable"))
        if isinstance(item, ForRecord) and item.endless and (item.variable or item.literals or item.lengths):
            raise Fault("an endless loop goes over nothing and has no variable", (*where, "endless"))


def check_names(names: list[str], where: Where, *, single: bool = False) -> None:
    """Refuse what cannot be a name in the program.

    Raises:
        Fault: with the words.
    """
    for number, name in enumerate(names):
        problem = name_problem(name)
        if problem:
            raise Fault(problem, where if single else (*where, number))


def check_definition_names(record: DefinitionRecord, where: Where) -> None:
    """Refuse a definition whose name, or one of whose ends, cannot be a name in the program.

    What code calls is named by its place in that, and may take what any function of Python may take.

    Raises:
        Fault: with the words.
    """
    if is_body(record.name):
        names = [*record.name.removesuffix(CALLED).split("."), *record.inputs]
        if wrong := next((one for one in names if not one.isidentifier() or keyword.iskeyword(one)), None):
            raise Fault(f"'{wrong[:60]}' is not a Python name", (*where, "name"))
    else:
        check_names([record.name], (*where, "name"), single=True)
        check_names(record.inputs, (*where, "inputs"))
    check_names(record.outputs, (*where, "outputs"))


@functools.lru_cache(maxsize=8192)
def name_problem(name: str) -> str:
    """Why the text cannot be a name in the program; "" when it can."""
    try:
        checked = check(name)
    except Refused as refused:
        return str(refused)
    return "" if checked == name else f"'{name}' must be written '{checked}'"


def _check_id(item_id: str, where: Where) -> None:
    if item_id.startswith(("@", "note:")):
        raise Fault(f"an id cannot begin as '{item_id}' does", where)


def safe_literals(item: Item, where: Where) -> dict[str, str]:
    """The item's literals, each a value that is only parsed, never evaluated.

    What is a literal in its normal form stays as it is; another spelling is brought into it. The
    literals of an unknown operator are kept: they are never printed as code.

    Raises:
        Fault: a text is no literal.
    """
    _check_arguments(item, where)
    if not item.literals:
        return item.literals
    operator = load().get(item.operator) if isinstance(item, NodeRecord) else None
    if operator is None and isinstance(item, NodeRecord):
        return item.literals
    safe: dict[str, str] = {}
    for path, text in item.literals.items():
        parameter = _parameter(operator, path)
        if text == DOCUMENT_DEVICE and (path == "device" or (parameter is not None and parameter.kind in DEVICE_KINDS)):
            safe[path] = text
            continue
        try:
            safe[path] = _safe(text, parameter)
        except LiteralError as error:
            raise Fault(f"the literal of '{path}': {error}", (*where, "literals", path)) from error
    return safe


def _check_arguments(item: Item, where: Where) -> None:
    """What a call is given by keyword is printed by its name."""
    if isinstance(item, NodeRecord) and (operator := load().get(item.operator)) and operator.face is Face.CALL:
        for field, paths in (("literals", item.literals), ("lengths", item.lengths)):
            for path in paths:
                if not is_argument_name(path.partition(".")[0]):
                    raise Fault(f"'{path[:60]}' is not the name of an argument", (*where, field, path))


def _parameter(operator: Operator | None, path: str) -> Parameter | None:
    name, dot, _ = path.partition(".")
    parameter = operator.parameter(name) if operator is not None else None
    return element_parameter(parameter) if parameter is not None and dot else parameter


@functools.lru_cache(maxsize=8192)
def _safe(text: str, parameter: Parameter | None) -> str:
    """The text when it is a literal in normal form, as fields or as programs spell it; else its normal form.

    Raises:
        LiteralError: it is no literal, neither for the parameter nor at all.
    """
    if _PLAIN.match(text) or _is_spelled(text):
        return text
    if parameter is not None and parameter.kind is Kind.NAME and _is_attribute(text):
        return text  # also one that a field refuses: a program may hold what a method is
    forms = []
    if parameter is not None:
        with contextlib.suppress(LiteralError):
            forms.append(parse(text, parameter))
    if text not in forms:
        try:
            forms.append(parse_any(text))
        except LiteralError:
            if not forms:
                raise
    return text if text in forms else forms[0]


def _is_attribute(text: str) -> bool:
    is_name = ATTRIBUTE.fullmatch(text.removeprefix("_")) is not None
    return is_name and not keyword.iskeyword(text)


def _is_spelled(text: str) -> bool:
    """Whether it is what the writer prints: ``(1, 2) * 3``, ``np.float32``, which no field takes."""
    try:
        return spell(text).text == text
    except NotALiteral:
        return False


def input_problem(operator: Operator | None, lengths: dict[str, int], path: str) -> str:
    """Why there is no input of that path; "" when there is, or when the operator is unknown."""
    if operator is None:
        return ""
    name, _, rest = path.partition(".")
    if operator.face is Face.CODE and path.startswith(READ) and rest.isidentifier():
        return ""
    if operator.parameter(name) is None and not (operator.face is Face.CALL and is_argument_name(name)):
        known = ", ".join(parameter.name for parameter in operator.parameters) or "none"
        return f"'{operator.key}' has no argument '{name}' (it has: {known})"
    number = rest.partition(".")[0]
    if number.isdecimal() and int(number) >= lengths.get(name, 0):
        return f"'{operator.key}' has no element {number} in its argument '{name}'"
    return ""
