"""Roles: what each statement of a program is to a class: made once, given, computed, or left outside (semantics §14).

`forward` is a run of statements that stand together in one scope, so that taking them out into a method
changes neither what they read nor the order of anything random.
"""

import msgspec

from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect, Face, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.init_statements import SettingUp
from gradstudio.program.forms.return_values import is_trained, return_values
from gradstudio.program.forms.statement_units import Units, Value

_BACKWARD_KEYS = ("torch.Tensor.backward", "torch.autograd.backward", "torch.autograd.grad")


class StatementRoles(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a program; units are statements or whole blocks, in program order.

    Attributes:
        root: the value that `forward` returns first.
        body: the scope in which `forward` stands: the program's, or that of a loop.
        forward: its units.
        returned: the root, then every other value of `forward` that is read outside or nowhere.
        inputs: its arguments: values made outside, by set-up or by the loop around it.
        constants: set-up units that only say numbers which the class uses: they stand above it.
        construction: set-up units of `__init__`.
        given: the arguments of `__init__`.
        parameters: leaves that `__init__` makes; `modules` the modules.
        nested: the parts that are printed inside their users; some get statements of their own here.
        unread: values of `forward` with a name that nothing reads and that is not returned.
    """

    root: Value
    body: BodyId
    forward: tuple[ItemId, ...]
    returned: tuple[Value, ...]
    inputs: tuple[Value, ...]
    constants: tuple[ItemId, ...]
    construction: tuple[ItemId, ...]
    given: tuple[Value, ...]
    parameters: tuple[Value, ...]
    modules: tuple[Value, ...]
    nested: frozenset[ItemId]
    unread: frozenset[Value]


def statement_roles(graph: Graph) -> StatementRoles:
    """The roles of a program's statements.

    Raises:
        NoForm: nothing in it is trained or computed; says why and what to do.
    """
    analysis = analyse(graph)
    root, backward = _root(analysis, Units(analysis).repeated)
    units = Units(analysis, pulled_parts(analysis, root))
    body, forward = _run(units, root, backward)
    setting_up = SettingUp(units, tuple(forward))
    if not (setting_up.parameters or setting_up.modules):
        raise NoForm(
            f"Nothing that '{title(graph, root[0])}' is computed from is trained, so a class would have no parameters. "
            "Give a tensor requires_grad=True, or export the script."
        )
    kept = setting_up.forward
    returned, unread = return_values(units, kept, root, body)
    return roles_around(
        setting_up, root=root, body=body, forward=kept, returned=returned, inputs=setting_up.inputs, unread=unread
    )


def roles_around(
    setting_up: SettingUp,
    *,
    root: Value,
    body: BodyId,
    forward: tuple[ItemId, ...],
    returned: tuple[Value, ...],
    inputs: tuple[Value, ...],
    unread: frozenset[Value],
) -> StatementRoles:
    """The roles where what is around `forward` is sorted already."""
    return StatementRoles(
        root=root,
        body=body,
        forward=forward,
        returned=returned,
        inputs=inputs,
        constants=setting_up.constants,
        construction=setting_up.construction,
        given=setting_up.given,
        parameters=setting_up.parameters,
        modules=setting_up.modules,
        nested=setting_up.units.nested,
        unread=unread,
    )


# -------------------------------------------------------------------- the root


def _root(analysis: Analysis, repeated: frozenset[ItemId]) -> tuple[Value, ItemId | None]:
    """The value to return, and the first backward that starts from it or after it."""
    graph, validity = analysis.graph, analysis.validity
    order = [item for item in graph.order() if item in graph.nodes and validity.is_live(item)]
    chosen = next((item for item in order if "root" in graph.nodes[item].marks), None)
    backwards = [item for item in order if graph.nodes[item].operator in _BACKWARD_KEYS]
    backwards.sort(key=lambda item: graph.nodes[item].operator == _BACKWARD_KEYS[2])  # `.backward()` first
    started = [(value, item) for item in backwards if (value := _started_from(analysis, item, repeated)) is not None]
    if chosen is not None:
        started = [(value, item) for value, item in started if value[0] == chosen]
    if started:
        return _latest(analysis, started), started[0][1]
    found = chosen if chosen is not None else analysis.root
    if found is None or found not in repeated:
        raise NoForm(
            "No tensor here is computed from one that requires grad, so there is nothing for forward to return. "
            "Give a tensor requires_grad=True, or export the script."
        )
    return validity.binding(found, 0), None


def _latest(analysis: Analysis, started: list[tuple[Value, ItemId]]) -> Value:
    """What is computed last before the first backward, in the same block, of what backwards start from."""
    graph, first = analysis.graph, started[0]
    position = {item: place for place, item in enumerate(graph.order())}
    body = graph.parents[first[1]]
    together = [value for value, item in started if graph.parents[item] == body]
    early = [value for value in together if position[value[0]] < position[first[1]]]
    return max((first[0], *early), key=lambda value: position[value[0]])


def _started_from(analysis: Analysis, backward: ItemId, repeated: frozenset[ItemId]) -> Value | None:
    """What a backward starts from, when that is computed in the repeated part."""
    name = analysis.validity.operators[backward].parameters[0].name
    wires = analysis.graph.wires
    wire = wires.get((backward, name)) or wires.get((backward, f"{name}.0"))
    if wire is None:
        return None
    value = analysis.validity.binding(wire.source, wire.output)
    is_computed = value[0] in analysis.graph.nodes and value[0] in repeated
    return value if is_computed and value not in analysis.gradients.leaves else None


def pulled_parts(analysis: Analysis, root: Value) -> frozenset[ItemId]:
    """Parts that get statements of their own: the root, and what a class makes once."""
    found = {root[0]}
    repeated = analysis.gradients.repeated
    for item in analysis.nested - repeated:
        operator = analysis.validity.operators[item]
        makes_module = operator.constructs and operator.results[0].family is Family.MODULE
        is_made_once = makes_module or (item, 0) in analysis.gradients.leaves
        if is_made_once and any(wire.target in repeated for wire in analysis.graph.wires_from(item)):
            found.add(item)
    return frozenset(found) & analysis.nested


# -------------------------------------------------------------------- the run


def _run(units: Units, root: Value, backward: ItemId | None) -> tuple[BodyId, list[ItemId]]:
    """The scope of `forward`, and the units from the first that computes up to the root."""
    around = units.scopes(units.statement(backward)) if backward is not None else [ROOT]
    body = next(scope for scope in units.scopes(units.statement(root[0])) if scope in around)
    scope = [unit for unit in units.of(body) if unit not in units.heads]
    last = units.unit(root[0], body)
    assert last is not None  # the scope is around it
    needed = _needed(units, scope, last)
    run: list[ItemId] = []
    waiting: list[ItemId] = []
    for unit in reversed(scope[: scope.index(last) + 1]):
        if unit not in needed and _is_barrier(units, unit):
            break
        if not (unit not in needed and _clears_gradients(units, unit)):
            waiting.append(unit)
        if unit in needed and _computes(units, unit):
            run.extend(waiting)
            waiting = []
    return body, [*_empty_lists(units, scope, run), *run[::-1]]


def _empty_lists(units: Units, scope: list[ItemId], run: list[ItemId]) -> list[ItemId]:
    """Lists made empty before the run that only the run fills and reads: each call of `forward` begins anew."""
    inside = {item for unit in run for item in units.members(unit)}
    found = []
    for unit in scope:
        operator = units.operator(unit)
        is_empty = operator is not None and operator.face is Face.LIST and not units.graph.incoming.get(unit)
        if unit in run or not is_empty or units.graph.nodes[unit].literals:
            continue
        users = [wire.target for wire in units.graph.wires_from(unit) if units.validity.is_live(wire.target)]
        if users and inside.issuperset(users):
            found.append(unit)
    return found


def _needed(units: Units, scope: list[ItemId], last: ItemId) -> set[ItemId]:
    """What the last unit is made from, by wires and by writes into what they bring."""
    found, waiting = {last}, [last]
    writers = [(unit, units.written(unit)) for unit in scope if not _is_barrier(units, unit)]
    while waiting:
        user = waiting.pop()
        reads = units.reads(user).keys()
        place = units.position[user]
        sources = units.sources(user)
        sources |= {unit for unit, values in writers if values & reads and units.position[unit] < place}
        waiting.extend(sources - found)
        found |= sources
    return found


def _clears_gradients(units: Units, unit: ItemId) -> bool:
    """``optimizer.zero_grad()``, ``x.grad = None``, ``x.grad.zero_()``: before `forward` or after, all one."""
    operators = [operator for item in units.members(unit) if (operator := units.operator(item)) is not None]
    effects = {effect for operator in operators for effect in operator.effects}
    clears = any(
        operator.word in ("zero_grad", "zero_") or operator.face is Face.SET_ATTRIBUTE for operator in operators
    )
    return clears and bool(effects & {Effect.GRAD, Effect.OPTIMIZER}) and unit in units.graph.nodes


def _is_barrier(units: Units, unit: ItemId) -> bool:
    """Whether training has taken place before what follows: a backward, a step, a write into a leaf."""
    if _clears_gradients(units, unit):
        return False
    effects = units.effects(unit)
    writes_leaf = any(value in units.leaves for value in units.written(unit))
    trains = bool(effects & {Effect.BACKWARD, Effect.OPTIMIZER})
    return trains or (writes_leaf and unit in units.repeated)


def _computes(units: Units, unit: ItemId) -> bool:
    """Whether a unit computes with what is trained."""
    if unit not in units.repeated or units.effects(unit) & {Effect.MODE, Effect.SEED}:
        return False
    if Effect.PRINT in units.effects(unit) and unit in units.graph.nodes:
        return False
    return any(is_trained(units, value) for value in units.reads(unit))
