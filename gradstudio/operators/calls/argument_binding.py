"""Binding: which row of the catalogue a Python call means, and which port each argument ends in. No torch here."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache

import msgspec

from gradstudio.operators.calls.call_arguments import Given, Several, Slice, Wired, Written
from gradstudio.operators.calls.call_signature import as_function, called_row, forward_parameters
from gradstudio.operators.catalogue.loader import Catalogue
from gradstudio.operators.catalogue.out_variants import OUT
from gradstudio.operators.errors import BindingError, LiteralError
from gradstudio.operators.families import accepts, element_parameter, family_words, is_list_like
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Face, Family, Kind, Operator, Parameter


class Binding(msgspec.Struct, frozen=True):
    """A call as a node of the row has it.

    Attributes:
        ports: what ends in each port. A literal is in its normal form; a `Several` is left where no port
            per element exists: it needs a list node of its own.
        lengths: number of elements of the list-like arguments that have a port per element.
        positional: parameters that were given by position.
        spread: variadic parameters that were given as separate arguments: ``zeros(2, 3)``.
        misfits: why arguments are not what their parameters take; only when binding was not strict.
    """

    operator: Operator
    ports: dict[str, Given]
    lengths: dict[str, int] = {}
    positional: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()


__all__ = ["Binding", "Given", "Several", "Slice", "Wired", "Written", "bind", "signature"]

ALIASES = {
    "axis": ("dim", "dims"),
    "keepdims": ("keepdim",),
    "x": ("input",),
    "a": ("input",),
    "x1": ("input",),
    "x2": ("other",),
    "self": ("input",),
    "from": ("from_",),
}
"""What numpy calls an argument, and torch's functions understand as well; and a word of Python's own."""
_CONVERTED = frozenset(
    {Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.SHAPE, Kind.INTS, Kind.NUMBERS, Kind.DATA}
)
"""Kinds for which a tensor is converted."""
_NEAR_NAME = "Did you mean"
RECEIVED = frozenset({Face.METHOD, Face.CALL})
"""Their first argument stands in front of the brackets."""
_SLICE_PARTS = ("start", "stop", "step")


def bind(
    catalogue: Catalogue,
    path: str,
    positional: Sequence[Given] = (),
    keywords: Mapping[str, Given] | None = None,
    *,
    strict: bool = True,
) -> Binding:
    """The row of a path that takes these arguments, and the port for each.

    Rows are tried in the catalogue's order, which is the order of preference; one that takes every wire as
    it is comes before one for which torch would have to convert (a tensor with one element as a number).

    Args:
        path: as it is printed: ``torch.max``, ``torch.Tensor.sum`` (the receiver is the first argument).
        positional, keywords: the arguments; numpy's names (``axis``) are understood.
        strict: refuse a literal or a wire that the parameter does not take. Otherwise the row that
            misfits least is chosen and torch will answer; only names and numbers of arguments must fit.

    Raises:
        UnknownOperator: no row has that path.
        BindingError: what does not fit, and how the nearest row is called.
    """
    rows = catalogue.overloads(path, filling=OUT in (keywords or ())) or (catalogue[path],)
    return _best(rows, positional, dict(keywords or {}), strict=strict)


def bind_to(row: Operator, positional: Sequence[Given], keywords: Mapping[str, Given]) -> Binding:
    """As `bind`, of one row that need not be the catalogue's; only names and numbers of arguments must fit."""
    return _best((row,), positional, dict(keywords), strict=False)


def bind_call(
    call: Operator,
    maker: Operator | None,
    positional: Sequence[Given],
    keywords: Mapping[str, Given],
    *,
    strict: bool = True,
) -> Binding:
    """The ports of calling a module; `positional` begins with the module itself.

    Args:
        call, maker: the rows of calling and of what constructs the module; None: it may take anything.
        positional, keywords, strict: as in `bind`.

    Raises:
        BindingError: what does not fit, and how the module is called.
    """
    reserved = next((name for name in keywords if call.parameter(name) is not None), None)
    if reserved is not None:
        raise BindingError(f"An argument called '{reserved}' can be given to a module by position only.", call)
    misfits: tuple[str, ...] = ()
    if maker is not None and forward_parameters(maker):
        misfits = _best((as_function(call, maker),), positional, dict(keywords), strict=strict).misfits
    row = called_row(call, maker, len(positional) - 1, tuple(sorted(keywords)))
    found = _best((row,), positional, dict(keywords), strict=False)
    return msgspec.structs.replace(found, misfits=misfits)


def _best(rows: Sequence[Operator], positional: Sequence[Given], given: dict[str, Given], *, strict: bool) -> Binding:
    candidates = [_Candidate(row, *placed) for row in rows for placed in _placements(row, tuple(positional), given)]
    placed = [candidate for candidate in candidates if not candidate.reason]
    best = min(placed, key=lambda candidate: (len(candidate.misfits), candidate.conversions), default=None)
    if best is not None and (not best.misfits or not strict):
        return best.binding()
    nearest = best or min(candidates, key=lambda candidate: candidate.faults)
    reason = nearest.reason or " ".join(nearest.misfits)
    raise BindingError(f"{reason} It is called {signature(nearest.operator)}.", nearest.operator)


def signature(operator: Operator) -> str:
    """How an operator is called, as a person would note it down: ``torch.sum(input, dim=None, *, dtype=None)``."""
    parts: list[str] = []
    is_open = True
    for parameter in operator.parameters[operator.face in RECEIVED :]:
        if parameter.keyword_only and is_open:
            is_open = False
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
        star = "*" if parameter.variadic else ""
        default = "" if parameter.default is None or star else f"={parameter.default}"
        parts.append(f"{star}{parameter.name}{default}")
    if operator.face is Face.METHOD:
        receiver = f"{operator.parameters[0].name}.{operator.word}"
    else:
        receiver = operator.parameters[0].name if operator.face is Face.CALL else operator.path
    return f"{receiver}({', '.join(parts)})"


class _Placed(msgspec.Struct):
    """Arguments by parameter, before it is asked whether each fits."""

    values: dict[str, Given] = {}
    positional: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()


class _Candidate:
    """One way of reading the call: a row, with each argument at a parameter or the reason why that cannot be.

    Attributes:
        conversions: how many tensors torch would have to take for numbers.
        faults: how far it is from fitting, to find the nearest.
    """

    def __init__(self, operator: Operator, placed: _Placed, reason: str) -> None:
        self.operator, self.placed, self.reason = operator, placed, reason
        self.misfits: tuple[str, ...] = ()
        if not reason:
            self.misfits = tuple(
                text
                for p in operator.parameters
                if p.name in placed.values and (text := _misfit(p, placed.values[p.name]))
            )
        self.conversions = sum(
            p.kind in _CONVERTED
            and isinstance(given := placed.values.get(p.name), Wired)
            and given.family is Family.TENSOR
            for p in operator.parameters
        )
        near = 500 if _NEAR_NAME in reason else 1000  # a slip of the pen is nearer than a wrong number of arguments
        self.faults = len(self.misfits) + (near if reason else 0) - len(placed.values)

    def binding(self) -> Binding:
        """The ports of every argument."""
        ports: dict[str, Given] = {}
        lengths: dict[str, int] = {}
        for parameter in self.operator.parameters:
            if parameter.name in self.placed.values:
                _emit(parameter, self.placed.values[parameter.name], ports, lengths)
        placed = self.placed
        return Binding(self.operator, ports, lengths, placed.positional, placed.spread, self.misfits)


# Placing ---------------------------------------------------------------------------------------


def _placements(
    operator: Operator, positional: tuple[Given, ...], keywords: dict[str, Given]
) -> Iterator[tuple[_Placed, str]]:
    """Every way in which the arguments can be given to the parameters.

    What stands by position may leave out an optional parameter that a required one follows, as in
    ``arange(5)``: there 5 is the end.
    """
    yield _place(operator, positional, keywords, frozenset())
    skipped = frozenset(
        parameter.name
        for k, parameter in enumerate(operator.parameters)
        if parameter.default is not None and _requires(operator.parameters[k + 1 :])
    )
    if skipped:
        yield _place(operator, positional, keywords, skipped)


def _requires(parameters: Sequence[Parameter]) -> bool:
    return any(parameter.default is None and not parameter.keyword_only for parameter in parameters)


def _place(
    operator: Operator, positional: tuple[Given, ...], keywords: dict[str, Given], skipped: frozenset[str]
) -> tuple[_Placed, str]:
    placed = _Placed()
    reason = _by_position(operator, positional, skipped, placed) or _by_name(operator, keywords, placed)
    return placed, reason or _missing(operator, placed)


def _by_position(operator: Operator, positional: tuple[Given, ...], skipped: frozenset[str], placed: _Placed) -> str:
    rest = list(positional)
    values: dict[str, Given] = {}
    for parameter in operator.parameters:
        if not rest or parameter.keyword_only:
            break
        if parameter.name in skipped:
            continue
        if not parameter.variadic or (parameter.kind is not Kind.VALUES and _is_whole(rest[0])):
            values[parameter.name] = rest.pop(0)
        else:
            values[parameter.name] = Several(tuple(rest), is_list=False)
            placed.spread = (parameter.name,)
            rest.clear()
    placed.values, placed.positional = values, tuple(values)
    hint = f" Call what it makes: {operator.title}()(…)." if operator.constructs else ""
    receivers = operator.face in RECEIVED  # what stands in front of the brackets is none of those within
    taken = len(values) - receivers
    count = f"{taken} argument{'' if taken == 1 else 's'}"
    return f"{operator.title} takes {count} by position, not {len(positional) - receivers}.{hint}" if rest else ""


def _is_whole(given: Given) -> bool:
    """Whether one argument brings all elements of a variadic parameter."""
    match given:
        case Several():
            return True
        case Written(text):
            return text.strip()[:1] in ("(", "[")
        case Wired(family):
            return family is Family.TUPLE
        case _:
            return False


def _by_name(operator: Operator, keywords: dict[str, Given], placed: _Placed) -> str:
    for name, given in keywords.items():
        parameter = _named(operator, name)
        if parameter is None:
            names = [p.name for p in operator.parameters]
            near = get_close_matches(name[:60], names, n=1)
            hint = f" {_NEAR_NAME} '{near[0]}'?" if near else ""
            return f"{operator.title} has no argument '{name[:60]}'.{hint}"
        if parameter.name in placed.values:
            return f"'{parameter.name}' is given twice."
        is_receiver = operator.face is Face.METHOD and parameter is operator.parameters[0]
        if parameter.positional_only or is_receiver:
            return f"'{parameter.name}' is given by position, not by its name."
        placed.values[parameter.name] = given
    return ""


def _named(operator: Operator, name: str) -> Parameter | None:
    found = operator.parameter(name)
    if found is not None:
        return found
    return next((p for alias in ALIASES.get(name, ()) if (p := operator.parameter(alias)) is not None), None)


def _missing(operator: Operator, placed: _Placed) -> str:
    names = [
        f"'{p.name}'"
        for p in operator.parameters
        if p.default is None and p.name not in placed.values and not (p.variadic and p.kind is Kind.VALUES)
    ]
    return f"{' and '.join(names)} must be given." if names else ""


# Fitting ---------------------------------------------------------------------------------------


def _misfit(parameter: Parameter, given: Given) -> str:
    """Why the parameter does not take the argument; "" when it does."""
    match given:
        case Wired(family):
            return accepts(parameter, family)
        case Written(text):
            return _literal(parameter, text)[1]
        case Slice():
            return "" if parameter.kind is Kind.INDEX else f"'{parameter.name}' takes no slice."
        case Several():
            return _misfit_of_several(parameter, given)


def _misfit_of_several(parameter: Parameter, given: Several) -> str:
    if parameter.kind is Kind.INDEX and given.is_list:
        return ""  # one index that is a list: torch decides
    text = _text_of(parameter, given)
    if text is not None and parameter.kind not in (Kind.TENSORS, Kind.MODULES):
        return _literal(parameter, text)[1]
    if not is_list_like(parameter):
        return accepts(parameter, Family.TUPLE)
    element = element_parameter(parameter)
    return next((text for item in given.items if (text := _misfit_of_element(element, item))), "")


def _misfit_of_element(element: Parameter, item: Given) -> str:
    if isinstance(item, Several) and element.kind in (Kind.TENSOR, Kind.MODULE, Kind.INT):
        return f"'{element.name}' is made of single values; this is {family_words(Family.TUPLE)}."
    return _misfit(element, item)


@lru_cache(maxsize=16384)
def _literal(parameter: Parameter, text: str) -> tuple[str, str]:
    """The literal's normal form, and why the parameter does not take it."""
    try:
        normal = parse(text, parameter)
    except LiteralError as error:
        return text.strip(), str(error)
    if parameter.kind is Kind.BOOL and parameter.choices and normal not in parameter.choices:
        return normal, f"'{parameter.name}' is {' or '.join(parameter.choices)} here: otherwise the results are others."
    return normal, ""


def _text_of(parameter: Parameter, given: Given) -> str | None:
    """The argument as one literal; None when something in it is wired."""
    match given:
        case Written(text):
            return text.strip()
        case Wired():
            return None
        case Slice(start, stop, step):
            parts = [_text_of(parameter, part) if part is not None else "" for part in (start, stop, step)]
            if any(part is None for part in parts):
                return None
            return ":".join(part or "" for part in (parts if parts[2] else parts[:2]))
        case Several(items, is_list):
            texts = [inner for item in items if (inner := _text_of(parameter, item)) is not None]
            if len(texts) < len(items):
                return None
            joined = ", ".join(texts) + ("," if len(texts) == 1 and not is_list else "")
            if is_list:
                return f"[{joined}]"
            return joined if parameter.kind is Kind.INDEX and texts else f"({joined})"


# Ports -----------------------------------------------------------------------------------------


def _emit(parameter: Parameter, given: Given, ports: dict[str, Given], lengths: dict[str, int]) -> None:
    """The port, or a port per element, that the argument ends in."""
    name = parameter.name
    by_wire_only = parameter.kind in (Kind.TENSORS, Kind.MODULES)
    text = None if by_wire_only and not isinstance(given, Written) else _text_of(parameter, given)
    if text is not None:
        ports[name] = Written(_literal(parameter, text)[0])
    elif isinstance(given, Slice):
        lengths[name] = 1
        _emit_element(parameter, f"{name}.0", given, ports)
    elif (
        isinstance(given, Several) and is_list_like(parameter) and not (parameter.kind is Kind.INDEX and given.is_list)
    ):
        lengths[name] = len(given.items)
        element = element_parameter(parameter)
        for k, item in enumerate(given.items):
            _emit_element(element, f"{name}.{k}", item, ports)
    else:
        ports[name] = given


def _emit_element(element: Parameter, path: str, item: Given, ports: dict[str, Given]) -> None:
    text = _text_of(element, item)
    if text is not None:
        ports[path] = Written(_literal(element, text)[0])
    elif isinstance(item, Slice):
        for part in _SLICE_PARTS:
            bound = getattr(item, part)
            if bound is not None:
                ports[f"{path}.{part}"] = bound
    else:
        ports[path] = item
