"""Compile: a graph as the nested list of steps that the engine executes."""

from gradstudio.graph.analysis.program_analysis import NO_ROOT, analyse
from gradstudio.graph.groups.definitions import call_order
from gradstudio.graph.model import ROOT, Graph
from gradstudio.graph.operator_rows import is_of_autograd
from gradstudio.graph.slices import Slices, stop_if, work_through
from gradstudio.graph.text.record_checks import digest_of
from gradstudio.program.model import Incomplete, Inside, Program
from gradstudio.program.program_steps import Steps
from gradstudio.program.trust import Drawn, code_lines, may_need_yes
from gradstudio.program.write import Script, script_slices

STORED = "python.stored"


def compile_graph(graph: Graph, *, stem: str = "program") -> Program:
    """The program of a graph; its stored tensors lie in ``<stem>.tensors``."""
    return work_through(program_slices(graph, stem=stem))


def program_slices(graph: Graph, *, stem: str = "program") -> Slices[Program]:
    """As `compile_graph`, in slices between which nothing but places may change."""
    analysis = analyse(graph)
    for part in (lambda: analysis.validity, lambda: analysis.nested, lambda: analysis.addresses, lambda: analysis.root):
        part()
        yield from stop_if(graph.nodes)
    script = yield from script_slices(graph, stem)
    yield from stop_if(graph.nodes)
    steps = Steps(analysis, script.references, script.lines, script.memo, script.device, stem, script.bodies)
    validity = analysis.validity
    for name in call_order(graph):
        inner = graph.definitions[name].graph.nodes.values()
        steps.tensors.update(digest_of(node) for node in inner if node.operator == STORED)
    statements = yield from steps.slices(graph.bodies[ROOT])
    insides = _insides(graph, script, stem) if script.insides else ()
    codes, trusted = code_lines(graph, statements, insides, _drawn(graph, script)) if may_need_yes(graph) else ((), ())
    return Program(
        script=script.text,
        code=script.code,
        prelude=script.prelude,
        statements=statements,
        spans=script.spans,
        seed=graph.header.seed,
        device=graph.header.device,
        tensors=tuple(sorted(steps.tensors)),
        insides=insides,
        codes=codes,
        trusted=trusted,
        incomplete=tuple(
            Incomplete(item, why, script.lines.get(item, 0))
            for item, why in validity.incomplete.items()
            if not is_of_autograd(graph, item)
        ),
        root=analysis.addresses[analysis.root] if analysis.root is not None else "",
        rootless="" if analysis.root is not None else NO_ROOT,
    )


def _drawn(graph: Graph, script: Script) -> Drawn:
    """Where statements that are drawn of functions in code stand in it."""
    if not script.bodies:
        return {}
    from gradstudio.program.drawn_in_code import drawn_in_code

    return drawn_in_code(graph, script.bodies)


def _insides(graph: Graph, script: Script, stem: str) -> tuple[Inside, ...]:
    """The programs within the definitions that are called."""
    from gradstudio.program.definition_steps import inside_of

    return tuple(inside_of(graph, name, script, stem) for name in script.insides)
