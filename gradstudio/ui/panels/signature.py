"""How an operator is written, in one line and as a tooltip. No widgets here."""

from html import escape

from gradstudio.operators.model import Face, Operator, Parameter

MAX_PARAMETERS = 7


def signature(operator: Operator) -> str:
    """One line of Python that shows how the operator is used: ``torch.matmul(input, other)``."""
    names = [parameter.name for parameter in operator.parameters]
    first, second = (*names, "a", "b")[:2] if names else ("a", "b")
    match operator.face:
        case Face.INFIX | Face.AUGMENTED:
            return f"{first} {operator.symbol} {second}"
        case Face.PREFIX:
            return f"{operator.symbol}{first}" if not operator.symbol.isalpha() else f"{operator.symbol} {first}"
        case Face.ATTRIBUTE:
            return f"{first}.{operator.symbol or second}"
        case Face.SET_ATTRIBUTE:
            return f"{first}.{operator.symbol or 'name'} = value"
        case Face.ITEM:
            return f"{first}[{second}]"
        case Face.SET_ITEM:
            return f"{first}[{second}] = value"
        case Face.LITERAL | Face.ALIAS | Face.TUPLE | Face.LIST | Face.STORED | Face.GROUP | Face.CALL:
            return operator.title
        case Face.METHOD:
            return f"{first}.{operator.word}({_arguments(operator.parameters[1:])})"
        case _:
            return f"{operator.path}({_arguments(operator.parameters)})"


def tooltip(operator: Operator) -> str:
    """Signature and summary as rich text."""
    words = f"<p style='margin:0'>{escape(operator.summary)}</p>" if operator.summary else ""
    return f"<p style='margin:0; white-space:pre'><code>{escape(signature(operator))}</code></p>{words}"


def _arguments(parameters: tuple[Parameter, ...]) -> str:
    shown = [_argument(parameter) for parameter in parameters[:MAX_PARAMETERS]]
    if len(parameters) > MAX_PARAMETERS:
        shown.append("…")
    return ", ".join(shown)


def _argument(parameter: Parameter) -> str:
    name = f"*{parameter.name}" if parameter.variadic else parameter.name
    return name if parameter.default is None or parameter.variadic else f"{name}={parameter.default}"
