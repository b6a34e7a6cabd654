"""What stands in a recorded step's statements, as words: arguments, groups of an optimizer, a line as it was typed."""

import ast
import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.call_text import Spell
from gradstudio.engine.bring.forward_recorder import Call
from gradstudio.engine.bring.value_literals import NotWritable, literal
from gradstudio.engine.record.transform_watch import function_words


def as_typed(call: Call, source: str) -> str:
    """The line of the script, where it is a statement by itself; else what was called."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):
        statements = []
    is_call = len(statements) == 1 and isinstance(statements[0], ast.Expr) and ";" not in source
    return source.partition("#")[0].strip() if is_call else f"{call.keywords['name']}(...)"


def takes_all(left: dict[int, Tensor], module: nn.Module) -> bool:
    """Whether all parameters of a module are among these; then they are taken out."""
    own = {id(parameter) for parameter in module.parameters()}
    if not own or not own <= left.keys():
        return False
    for identity in own:
        del left[identity]
    return True


def group_entry(params: str, options: Sequence[str]) -> str:
    """A group of an optimizer as a dict's text."""
    words = [f'"{word}": {value}' for word, _, value in (option.partition("=") for option in options)]
    inside = ", ".join([f'"params": {params}', *words])
    return f"{{{inside}}}"


def group_options(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> list[str]:
    """What the group is told that is not said by the class, as keywords; always the learning rate."""
    found = []
    for word, parameter in inspect.signature(type(optimizer)).parameters.items():
        if word not in group or word == "params":
            continue
        value = group[word].item() if isinstance(group[word], Tensor) else group[word]
        if word == "lr" or value != parameter.default:
            try:
                found.append(f"{word}={literal(value)}")
            except NotWritable:
                continue
    return found


def is_in_place(call: Call) -> bool:
    """Whether what it gave is what it was given, for which a person gives no new name."""
    return bool(call.arguments) and call.result is call.arguments[0] and call.path.endswith("_")


def arguments_text(call: Call, spell: Spell) -> str:
    """What stands in the brackets of a call."""
    keywords = [f"{word}={spell(value)}" for word, value in call.keywords.items() if value is not None]
    return ", ".join([*map(spell, call.arguments), *keywords])


def lenient(spell: Spell) -> Spell:
    """What no literal stands for is written as its class, as a text; a function by its name."""

    def spelled(value: Any) -> str:
        try:
            return spell(value)
        except NotWritable:
            return function_words(value) or f'"<{type(value).__name__}>"'

    return spelled
