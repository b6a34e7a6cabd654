"""What the catalogue knows of an operator and its arguments, in words: how it is written, what it takes and gives."""

import msgspec

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.model import Effect, Face, Family, Kind, Operator, Parameter

MAX_PARAMETERS = 7
KIND_WORDS = {
    Kind.TENSOR: "a tensor",
    Kind.NUMBER: "a number",
    Kind.TENSOR_OR_NUMBER: "a tensor or a number",
    Kind.INT: "a whole number",
    Kind.FLOAT: "a number",
    Kind.COMPLEX: "a complex number",
    Kind.BOOL: "True or False",
    Kind.TEXT: "a text",
    Kind.DTYPE: "a dtype",
    Kind.DEVICE: "a device",
    Kind.LAYOUT: "a layout",
    Kind.MEMORY_FORMAT: "a memory format",
    Kind.SHAPE: "sizes",
    Kind.INTS: "a whole number, or several",
    Kind.NUMBERS: "a number, or several",
    Kind.INDEX: "what stands between brackets",
    Kind.TENSORS: "several tensors",
    Kind.VALUES: "any values",
    Kind.MODULES: "several modules",
    Kind.DATA: "a number, or nested lists of numbers",
    Kind.NAME: "the name of an attribute",
    Kind.MODULE: "a module",
    Kind.OPTIMIZER: "an optimizer",
    Kind.ARRAY: "an array",
    Kind.GENERATOR: "a torch.Generator",
    Kind.OBJECT: "any object",
    Kind.ANY: "anything",
}
FAMILY_WORDS = {
    Family.TENSOR: "a tensor",
    Family.NUMBER: "a number",
    Family.TEXT: "a text",
    Family.TUPLE: "a tuple",
    Family.MODULE: "a module",
    Family.OPTIMIZER: "an optimizer",
    Family.ARRAY: "an array",
    Family.OBJECT: "an object",
    Family.NONE: "None",
    Family.UNKNOWN: "a value",
}
_EFFECTS = {
    Effect.BACKWARD: ("backward", "Runs a backward: gradients are computed and added up in the leaves."),
    Effect.GRAD: ("gradient", "Reads or writes gradients: its place in the program's order counts."),
    Effect.OPTIMIZER: ("optimizer", "Belongs to an optimizer: its place in the program's order counts."),
    Effect.RANDOM: ("random", "Draws random numbers: another result each time, unless a seed is set."),
    Effect.SEED: ("seed", "Sets where the random numbers begin."),
    Effect.CODE: ("code", "Runs Python that is not drawn: it may do anything, so its place in the order is fixed."),
    Effect.SETTING: ("setting", "Changes a setting of torch itself, from there on until the program begins anew."),
    Effect.PRINT: ("output", "Writes to the log."),
    Effect.MODE: ("mode", "Changes how a module or a leaf behaves from there on."),
}


def signature(operator: Operator, most: int = MAX_PARAMETERS) -> str:
    """One line of Python that shows how the operator is used: ``torch.matmul(input, other)``; `most` arguments."""
    names = [parameter.name for parameter in operator.parameters]
    first, second = (*names, "a", "b")[:2] if names else ("a", "b")
    match operator.face:
        case Face.INFIX | Face.AUGMENTED:
            return f"{first} {operator.symbol} {second}"
        case Face.CODE:
            return "…"
        case Face.PREFIX:
            return f"{operator.symbol}{first}" if not operator.symbol.isalpha() else f"{operator.symbol} {first}"
        case Face.ATTRIBUTE:
            return f"{first}.{operator.symbol or second}"
        case Face.SET_ATTRIBUTE:
            return f"{first}.{operator.symbol or 'name'} = value"
        case Face.SET_PATH:
            return f"{operator.path.removesuffix('=')} = {first}"
        case Face.ASSERT:
            return f"assert {first}, {second}"
        case Face.ITEM:
            return f"{first}[{second}]"
        case Face.SET_ITEM:
            return f"{first}[{second}] = value"
        case Face.GROUP if operator.parameters or operator.takes:
            taken = operator.parameters if not operator.takes else (*operator.parameters, *operator.takes)
            return f"{operator.title}({_arguments(taken, most)})"
        case Face.LITERAL | Face.ALIAS | Face.TUPLE | Face.LIST | Face.STORED | Face.GROUP | Face.CALL:
            return block_rows.head(operator.key) or operator.title
        case Face.METHOD:
            return f"{first}.{operator.word}({_arguments(operator.parameters[1:], most)})"
        case _:
            return f"{operator.path}({_arguments(operator.parameters, most)})"


def call_lines(operator: Operator) -> tuple[tuple[str, str], ...]:
    """A call's arguments, each as it is written and what it takes; nothing for what is written otherwise.

    A ``*`` of its own stands before those that are given by name only.
    """
    if "(" not in signature(operator, 0) or operator.face is Face.GROUP:
        return ()
    lines: list[tuple[str, str]] = []
    for parameter in operator.parameters[operator.face is Face.METHOD :]:
        if parameter.keyword_only and not any(text.startswith("*") for text, _ in lines):
            lines.append(("*", "the rest by name only"))
        lines.append((_argument(parameter), parameter_text(msgspec.structs.replace(parameter, keyword_only=False))))
    return tuple(lines)


def plain_summary(summary: str) -> str:
    """A summary without the marks around code in it."""
    return summary.replace("`", "")


def parameter_text(parameter: Parameter) -> str:
    """What an argument takes, without its default: "a tensor or a number, or None; one of 'mean', 'sum'"."""
    words = KIND_WORDS[parameter.kind]
    if words == "anything" and not parameter.choices:
        return "by name only" if parameter.keyword_only else ""
    if parameter.variadic:
        words = f"{words}, one after the other"
    if parameter.nullable and parameter.default != "None":
        words = f"{words}, or None"
    if parameter.choices and parameter.kind != Kind.BOOL:
        listed = ", ".join(parameter.choices[:8]) + (", …" if len(parameter.choices) > 8 else "")
        joint = ", such as " if words == "anything" else ": "
        words = f"one of {listed}" if parameter.kind == Kind.TEXT else f"{words}{joint}{listed}"
    return f"{words}; by name only" if parameter.keyword_only else words


def default_words(parameter: Parameter) -> str:
    """Its default, or that it is needed."""
    return f"default {parameter.default}" if parameter.default is not None else "needed"


def argument(parameter: Parameter) -> str:
    """What an argument takes and what it is without one, in a line: "a number; default 1"."""
    return "; ".join(part for part in (parameter_text(parameter), default_words(parameter)) if part)


def badges(operator: Operator) -> tuple[tuple[str, str], ...]:
    """What one has to know of an operator before one uses it: a word, and a sentence on it."""
    told: list[tuple[str, str]] = []
    if Effect.IN_PLACE in operator.effects:
        into = " and ".join(f"“{name}”" for name in operator.writes) or "its first argument"
        told.append(("in-place", f"Writes into {into}: every name and every view of that tensor shows it."))
    if operator.view:
        told.append(("view", "The result shares its memory with the input: a write into one shows in the other."))
    if operator.cuts:
        told.append(("cuts gradient", "The result never requires grad: no gradient flows back through it."))
    for effect in operator.effects:
        if effect == Effect.RANDOM and operator.face == Face.CONSTRUCTOR:
            told.append(("random", "Its parameters begin with random numbers: others each time, unless a seed is set."))
        elif effect in _EFFECTS:
            told.append(_EFFECTS[effect])
    if operator.varying:
        told.append(("varying", "How many results there are depends on the arguments: they come as one list."))
    return tuple(told)


def results(operator: Operator) -> str:
    """What comes out: "values and indices, two tensors"."""
    if operator.varying:
        return "several values in one list"
    if not operator.results:
        return "nothing"
    words = [
        FAMILY_WORDS[result.family] if result.name == "out" else f"{result.name} ({FAMILY_WORDS[result.family]})"
        for result in operator.results
    ]
    return ", ".join(words)


def _arguments(parameters: tuple[Parameter, ...], most: int) -> str:
    shown = [_argument(parameter) for parameter in parameters[:most]]
    if len(parameters) > most:
        shown.append("…")
    return ", ".join(shown)


def _argument(parameter: Parameter) -> str:
    name = f"*{parameter.name}" if parameter.variadic else parameter.name
    return name if parameter.default is None or parameter.variadic else f"{name}={parameter.default}"
