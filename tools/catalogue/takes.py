"""What a module takes when it is called: the parameters of its `forward`, as the installed torch has them."""

import inspect

import msgspec

from gradstudio.operators.literals.grammar import read
from gradstudio.operators.model import Face, Family, Kind, Operator, Parameter
from tools.catalogue import signatures, wording
from tools.catalogue.kinds import HINTS, kind_of
from tools.catalogue.selection import Row
from tools.catalogue.signatures import Argument

HINTS_OF_CALLS = {
    "query": "what asks: one row for each result",
    "key": "what the query is compared with",
    "value": "what is mixed: one row for each key",
    "key_padding_mask": "True where a key is padding and must not be seen",
    "average_attn_weights": "False keeps the weights of every head apart",
    "hx": "the state to begin with; empty: zeros",
    "offsets": "where each bag begins, when the indices are one long row",
    "per_sample_weights": "a weight for each index, with mode sum",
    "indices": "where the largest elements stood: of a pooling with return_indices=True",
    "output_size": "the size of the result, where several are possible",
    "input1": "the first input", "input2": "the second input", "x1": "the first input", "x2": "the second input",
    "x": "the tensor to work on", "input_": "the tensor to work on", "target_": "the class of each row",
    "anchor": "what both others are compared with", "positive": "what should be near the anchor",
    "negative": "what should be far from the anchor", "var": "the variance that is expected",
    "log_input": "the logarithm of the rate, or the rate itself with log_input=False",
    "log_probs": "logarithms of probabilities, (time, batch, class)", "targets": "the classes to find, in order",
    "input_lengths": "how much of each row of log_probs counts", "target_lengths": "how many targets each row has",
}  # fmt: skip
"""Where torch says nothing, or more than a line."""

OPEN = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def of(row: Row, operator: Operator) -> tuple[Parameter, ...]:
    """The parameters of calling what a constructor makes; none when it makes no module, or one that takes anything."""
    if operator.face is not Face.CONSTRUCTOR or not operator.results or operator.results[0].family is not Family.MODULE:
        return ()
    forward = signatures.resolve(row.target).forward
    corrected = dict(text.partition("=")[::2] for text in row.all("take"))
    if "none" in corrected or any(p.kind in OPEN for p in inspect.signature(forward).parameters.values()):
        return ()
    arguments = signatures._from_inspect(forward, skip_first=True).arguments
    unknown = corrected.keys() - {argument.name for argument in arguments}
    if unknown:
        raise ValueError(f"forward has no argument {sorted(unknown)}")
    return tuple(_parameter(row.target, argument, corrected.get(argument.name, "")) for argument in arguments)


def _parameter(path: str, argument: Argument, corrected: str) -> Parameter:
    kind, nullable = kind_of(argument.name, argument.type)
    kind = Kind(corrected.rstrip("?")) if corrected else kind
    default = None if argument.default is None else read(argument.default, slices=True).text
    return msgspec.structs.replace(
        Parameter(argument.name, kind),
        default=default,
        keyword_only=argument.keyword_only,
        nullable=nullable or default == "None" or corrected.endswith("?"),
        hint=wording.hint(f"{path}.forward", argument.name) or wording.hint(path, argument.name)
        or HINTS_OF_CALLS.get(argument.name) or HINTS.get(argument.name, ""),
    )  # fmt: skip
