"""What of an operator's row decides whether gradients flow: leaves, memory that is shared, what a pass repeats."""

import msgspec

from gradstudio.graph.groups.definitions import INIT_PREFIX, PARAMETER_KEYS
from gradstudio.operators.model import Effect, Face, Family, Operator

ALWAYS_REPEATED = frozenset(
    {Effect.BACKWARD, Effect.GRAD, Effect.OPTIMIZER, Effect.PRINT, Effect.SEED, Effect.SETTING, Effect.MODULE_CALL}
    | {Effect.CODE}
)
METADATA = frozenset(
    "shape dtype device layout ndim requires_grad is_leaf itemsize nbytes size dim numel nelement ndimension "
    "element_size stride storage_offset is_contiguous is_floating_point is_complex get_device data_ptr "
    "is_cuda is_sparse names output_nr retains_grad".split()
)
"""Attributes and methods that look at a tensor without computing with its values."""
CREATES_LIKE = frozenset(
    "zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty new_tensor".split()
)
"""Creation that takes its shape, dtype and device from a tensor, and so does not compute with it."""
CONTAINERS = frozenset({Face.TUPLE, Face.LIST})
PASSING = CONTAINERS | {Face.ALIAS, Face.LITERAL, Face.SET_ATTRIBUTE}
OF_WHAT_IT_TAKES = CONTAINERS | {Face.INFIX, Face.PREFIX, Face.ITEM, Face.ALIAS, Face.CHOICE}
"""Statements that give numbers of numbers, and tensors of tensors."""
TENSOR_FAMILIES = frozenset({Family.TENSOR, Family.TUPLE, Family.UNKNOWN})
ATTRIBUTE = "python.attribute"


class Traits(msgspec.Struct, frozen=True):
    """What of an operator matters here.

    Attributes:
        always: repeated whatever it takes (semantics §5).
        is_set_up: set-up whatever it takes, unless that is repeated.
        computes: it computes with the values of a tensor it is given.
        shares_memory: its result is the object it was given, or a view of it that carries its gradient.
        carries_gradient: a result may require grad because an input does.
        may_be_tensor: some result may be a tensor, or a list of some.
        holds_parameters: its result is a module or a part of one.
        makes_leaf: what it makes is a leaf: "" never, "flag" with requires_grad=True, "parameter" by itself.
        makes_module: its result is a module or an optimizer.
        hands_on: its result may be the object it was given, or one out of it.
        is_plain: its results are no tensors, whatever it takes.
        is_plain_of_plain: they are none where it takes none.
    """

    always: bool
    is_random: bool
    is_set_up: bool
    computes: bool
    shares_memory: bool
    carries_gradient: bool
    may_be_tensor: bool
    holds_parameters: bool
    makes_leaf: str
    sets_requires_grad: bool
    makes_module: bool
    hands_on: bool
    is_plain: bool
    is_plain_of_plain: bool


_traits: dict[str, tuple[Operator, Traits]] = {}


def traits_of(operator: Operator) -> Traits:
    """The traits of an operator; those of the catalogue's rows are worked out once."""
    known = _traits.get(operator.key)
    if known is None or known[0] is not operator:
        known = _traits[operator.key] = (operator, _traits_of(operator))
    return known[1]


def _traits_of(operator: Operator) -> Traits:
    face = operator.face
    effects = operator.effects
    word = operator.symbol or operator.word
    families = {result.family for result in operator.results}
    first = operator.results[0].family if operator.results else None
    is_plain_of_plain = face in OF_WHAT_IT_TAKES or operator.key.startswith("builtins.")
    is_metadata = face in (Face.ATTRIBUTE, Face.METHOD) and word in METADATA
    may_be_tensor = bool(families & TENSOR_FAMILIES) and not is_metadata
    looks_only = is_metadata or operator.word in CREATES_LIKE
    is_parameter = operator.key in PARAMETER_KEYS
    has_flag = operator.parameter("requires_grad") is not None and Effect.MODE not in effects
    makes_leaf = ""
    if is_parameter:
        makes_leaf = "parameter"
    elif has_flag:
        makes_leaf = "flag"
    passes_on = bool(operator.writes) or operator.view or face is Face.ALIAS or Effect.MODE in effects
    return Traits(
        always=any(effect in ALWAYS_REPEATED for effect in effects),
        is_random=Effect.RANDOM in effects,
        is_set_up=operator.constructs or operator.key.startswith(INIT_PREFIX) or Effect.MODE in effects,
        computes=not (face in PASSING or operator.key in ("python.append", ATTRIBUTE) or looks_only),
        shares_memory=passes_on and not operator.cuts,
        carries_gradient=(may_be_tensor or face in CONTAINERS) and not operator.cuts,
        may_be_tensor=may_be_tensor,
        holds_parameters=operator.constructs or operator.key == ATTRIBUTE or word == "parameters",
        makes_leaf=makes_leaf,
        sets_requires_grad=word == "requires_grad_" or (face is Face.SET_ATTRIBUTE and word == "requires_grad"),
        makes_module=first in (Family.MODULE, Family.OPTIMIZER),
        hands_on=face in (Face.ALIAS, Face.ITEM),
        is_plain=first not in (None, *TENSOR_FAMILIES) or (is_metadata and not is_plain_of_plain),
        is_plain_of_plain=is_plain_of_plain,
    )
