"""Insides: a definition as a traced run executes what is in it (semantics §15)."""

import msgspec

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.groups.definitions import definition_graph, members_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import DEFINITION_OUTPUTS, ROOT, Graph, ItemId
from gradstudio.program.model import BlockStatement, Inside, Statement
from gradstudio.program.printing.definition_printer import OwnedReferences, parameters_of
from gradstudio.program.printing.name_references import References
from gradstudio.program.program_steps import Steps
from gradstudio.program.write import Script

NOTHING = "None"
_made: MemoTable[tuple[tuple[object, ...], Inside]] = MemoTable()


def inside_of(graph: Graph, name: str, script: Script, stem: str) -> Inside:
    """The inside of a definition; the same record comes back while neither it nor its place has changed."""
    inner = definition_graph(graph, name)
    key = (stem, script.device, script.insides[name], script.bodies)
    known = _made.get(inner)
    if known is None or known[0] != key:
        known = _made[inner] = key, _inside(graph, name, script, stem)
    return known[1]


def _inside(graph: Graph, name: str, script: Script, stem: str) -> Inside:
    definition = graph.definitions[name]
    inner = definition_graph(graph, name)
    spans = script.insides[name]
    analysis = analyse(inner)
    references = References(analysis)
    setup = frozenset[ItemId]()
    taken = definition.inputs
    stores: tuple[str, ...] = ()
    if definition.is_module:
        references = owned = OwnedReferences(analysis, definition)
        setup = owned.setup
        taken = definition.taken
    lines = {span.node: span.line for span in reversed(spans)}
    steps = Steps(analysis, references, lines, None, script.device, stem, script.bodies)
    tops = inner.bodies[ROOT]
    members = members_of(inner)
    body = _repeated(steps.some(item for item in tops if item not in setup and item not in members))
    results = tuple(_result(steps, output) for output in range(len(definition.outputs)))
    settings = tuple(name for name in definition.inputs if name in definition.settings)
    made = _repeated(steps.some(item for item in tops if item in setup))
    if isinstance(references, OwnedReferences):
        stores = tuple(references.read_late())  # known once the statements are printed
    return Inside(
        name=name,
        inputs=definition.inputs,
        taken=taken,
        outputs=definition.outputs,
        head=parameters_of(definition, taken),
        body=body,
        results=results,
        is_module=definition.is_module,
        making=parameters_of(definition, settings),
        setup=made,
        members=tuple(one for one in steps.some(members) if isinstance(one, Statement)),
        stores=stores,
        spans=spans,
    )


def _result(steps: Steps, output: int) -> str:
    wire = steps.graph.wire_into(DEFINITION_OUTPUTS, str(output))
    if wire is None or (wire.source in steps.graph and not steps.validity.is_live(wire.source)):
        return NOTHING
    return steps.printer.text(DEFINITION_OUTPUTS, str(output)) or NOTHING


def _repeated(statements: tuple[Statement | BlockStatement, ...]) -> tuple[Statement | BlockStatement, ...]:
    """As part of a statement of the program: nothing of it is kept from pass to pass by itself."""
    found: list[Statement | BlockStatement] = []
    for one in statements:
        if isinstance(one, Statement):
            found.append(msgspec.structs.replace(one, repeated=True))
        else:
            found.append(msgspec.structs.replace(one, repeated=True, body=_repeated(one.body)))
    return tuple(found)
