"""Bringing a module of the user's own: what is asked of a fresh engine, and what it answers.

This is the one request that runs the user's code; who sends it has been told yes by the person.
"""

from typing import Literal as OneOf

import msgspec

from gradstudio.protocol.messages.base import Message

Fault = OneOf["usage", "code", "inexpressible"]


class BringModule(Message, frozen=True):
    """Import a Python file, build a module of it, run it once and write down what it computes.

    Attributes:
        path: of the file, absolute.
        name: of a class, a function without arguments, or a module bound at the file's top level.
        arguments: what the class is called with, as Python literals: ``64, num_layers=2``.
        inputs: a Python expression each, ``name=…`` for one by keyword; read by our reader, never evaluated.
        evaluate: `eval()` is called on it before it runs.
        seed: of the random numbers, set before the inputs are made; a seed that the file sets counts instead.
        stem: name of the document, for the folder of its stored tensors.
    """

    path: str
    name: str
    arguments: str = ""
    inputs: tuple[str, ...] = ()
    evaluate: bool = False
    seed: int = 0
    stem: str = "program"


class Brought(Message, frozen=True):
    """A module as a text of ours.

    Attributes:
        text: a program that the reader reads.
        tensors: the stored tensors it loads: digest -> safetensors bytes.
        outcome: what was found, in a sentence: nodes, parameters, and whether the outputs are equal bit for bit.
        notes: what a person should know of it besides.
        exact: outputs and gradients of parameters are those of the module, bit for bit.
    """

    text: str
    tensors: dict[str, bytes] = msgspec.field(default_factory=dict)
    outcome: str = ""
    notes: tuple[str, ...] = ()
    exact: bool = True


class NotBrought(Message, frozen=True):
    """It could not be brought.

    Attributes:
        fault: "usage": what was asked for is not there; "code": the user's code failed; "inexpressible": it does
            what no canvas can draw.
        message: in words; of a failure torch's or Python's own.
        line, file: where in the user's code; 0 and "" when it is about no line.
        source: that line.
    """

    fault: Fault
    message: str
    file: str = ""
    line: int = 0
    source: str = ""


def in_words(answer: NotBrought) -> str:
    """The answer in a sentence or two, with its place."""
    place = f"{answer.file}, line {answer.line}: " if answer.line else ""
    source = f"\n    {answer.source}" if answer.source else ""
    return f"{place}{answer.message}{source}"
