"""Questions about the graph of a program, answered in words: what the window shows and `check --graph` prints."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from gradstudio.advice.diagnosis.graph_weights import Expected, Weights, memory_weights, time_weights
from gradstudio.advice.diagnosis.memory_shortage import in_words
from gradstudio.advice.metrics import Readings
from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.structure import graph_questions as network
from gradstudio.graph.structure.gradient_flows import GradientFlows
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.number_format import format_number

Name = Callable[[ItemId], str]
MOST_NAMED = 10
"""Of a longer list the first and the last half of so many are named."""
MOST_EXAMPLES = 5
EMPTY = "There is nothing on the canvas. Add an operator, or open a document, and ask again."
NOT_TIMED = "No run has been timed. Run the program, and ask again."
NOTHING_RUN = "A check runs nothing, so there are no times. The window shows those of the last run: Graph ▸ Analyse."
NO_SHAPES = "Neither a run nor the expected shapes say how large anything is. Run the program, and ask again."
NO_ROOT = (
    "No gradient flows: nothing that requires grad leads to a root. Give a leaf requires_grad=True and compute a loss."
)
NO_LEAF = "There is no leaf: nothing requires grad. Give a tensor requires_grad=True, or add a layer with parameters."
NO_SUCH_LEAF = "{name} is no leaf: no gradient ends there. Choose one of those below."
NO_PAIR = "Select two nodes on the canvas, and ask again."
NOT_CALLED = "Nothing is called {name}. Take a name of this report, such as {others}."


class Answer(msgspec.Struct, frozen=True):
    """One row.

    Attributes:
        text: in words.
        items: the nodes it is about; a click selects them.
        figure: of a longest path, the sum along it in the section's unit; else None.
    """

    text: str
    items: tuple[ItemId, ...] = ()
    figure: float | None = None


class Section(msgspec.Struct, frozen=True):
    """A question and its answers.

    Attributes:
        key: "components", "time", "memory", "gradient" or "between".
        title: the question in a few words.
        note: where its figures are from, or why there is no answer and what to do; "" for neither.
        unit: of figures: "s", "B" or "".
    """

    key: str
    title: str
    answers: tuple[Answer, ...] = ()
    note: str = ""
    unit: str = ""


class Asked(msgspec.Struct, frozen=True):
    """A program and what is known of it.

    Attributes:
        name: how items are called in the words.
        expected: what inference says of an output.
        readings: of the last run; None where there was none.
        is_stale: that run was of an older version of the program.
        pair: two nodes, to ask what lies between them; `no_pair` says why there are none, and what to do.
        no_time: says the same where no run was timed.
        chosen: the items whose gates were asked for; those of the leaves among them stand first.
    """

    graph: Graph
    name: Name
    expected: Expected
    readings: Readings | None = None
    is_stale: bool = False
    pair: tuple[ItemId, ItemId] | None = None
    no_pair: str = NO_PAIR
    no_time: str = NOT_TIMED
    chosen: frozenset[ItemId] = frozenset()


def answers(asked: Asked) -> tuple[Section, ...]:
    """Every question with its answer, or the reason why it has none; a pair that was chosen comes first."""
    if not asked.graph.nodes:
        return (Section("components", "Connected components", note=EMPTY),)
    others = gradient_section(asked), *path_sections(asked), component_section(asked)
    between = between_section(asked)
    return (between, *others) if asked.pair is not None else (*others, between)


def component_section(asked: Asked) -> Section:
    """The parts of the program that nothing joins, the largest first."""
    parts = network.components(asked.graph)
    rows = [Answer(f"{_count(part, 'node')}: {_listed(asked, part, ', ')}", part) for part in parts]
    note = "All nodes hang together." if len(parts) == 1 else "Nothing flows from one of them to another."
    return Section("components", f"Connected components: {len(parts)}", tuple(rows), note)


def path_sections(asked: Asked) -> tuple[Section, Section]:
    """The longest path by time and by memory."""
    graph, readings = asked.graph, asked.readings
    by_time = _path_section(asked, "time", "Longest path by time", time_weights(graph, readings), asked.no_time)
    weights = memory_weights(graph, readings, asked.expected)
    return by_time, _path_section(asked, "memory", "Longest path by memory", weights, NO_SHAPES)


def gradient_section(asked: Asked) -> Section:
    """For each leaf the nodes that all of its gradient must pass."""
    title, known = "Where all of a leaf's gradient must pass", GradientFlows(asked.graph)
    if not known.leaves:
        return Section("gradient", title, note=NO_LEAF)
    if not known.roots:
        return Section("gradient", title, note=NO_ROOT)
    through = {gates.leaf: gates.through for gates in network.gates(known)}
    leaves = sorted(known.leaves, key=lambda leaf: leaf not in asked.chosen)
    rows = [_gate_answer(asked, leaf, through.get(leaf), known) for leaf in leaves]
    if asked.chosen and leaves[0] not in asked.chosen:
        item = min(asked.chosen)
        rows.insert(0, Answer(NO_SUCH_LEAF.format(name=asked.name(item)), (item,)))
    note = (
        f"From {_listed(asked, known.roots, ', ')} back to each leaf; read from the program's text, for all its ways."
    )
    return Section("gradient", title, tuple(rows), note)


def between_section(asked: Asked) -> Section:
    """What lies on the ways between two nodes."""
    title = "Between two nodes"
    if asked.pair is None:
        return Section("between", title, note=asked.no_pair)
    place = {item: number for number, item in enumerate(asked.graph.order())}
    first, second = sorted(asked.pair, key=lambda item: place.get(item, len(place)))
    names = f"{asked.name(first)} and {asked.name(second)}"
    title = f"Between {names}"
    if not network.reaches(asked.graph, first, second):
        words = f"No way leads from {asked.name(first)} to {asked.name(second)}: nothing of one flows into the other."
        return Section("between", title, (Answer(words, (first, second)),))
    found = network.between(asked.graph, first, second)
    words = (
        f"{_count(found, 'node')}: {_listed(asked, found, ', ')}" if found else "Nothing: one feeds the other directly."
    )
    return Section("between", title, (Answer(words, (first, *found, second)),))


def checked(graph: Graph, ports: Iterable[PortInference], names: Sequence[str] | None) -> tuple[Section, ...]:
    """The answers for a program that was checked, not run; `names` are those of the pair to look between."""
    titles = addresses(graph)
    known = {(port.node, port.output): port for port in ports}
    asked = Asked(
        graph,
        lambda item: titles.get(item, item),
        lambda item, output: known.get((item, output)),
        no_time=NOTHING_RUN,
    )
    if names is None or not graph.nodes:
        return tuple(section for section in answers(asked) if section.key != "between")
    ids = {title: item for item, title in titles.items()}
    missing = next((name for name in names if name not in ids), None)
    if missing is not None:
        words = NOT_CALLED.format(name=f"'{missing}'", others=", ".join(list(ids)[:MOST_EXAMPLES]))
        return answers(msgspec.structs.replace(asked, no_pair=words))
    return answers(msgspec.structs.replace(asked, pair=(ids[names[0]], ids[names[1]])))


def section_lines(sections: Iterable[Section]) -> list[str]:
    """The sections as lines of text, for people."""
    lines: list[str] = []
    for section in sections:
        lines.append(section.title)
        lines += [f"  {section.note}"] if section.note else []
        lines += [f"  - {answer.text}" for answer in section.answers]
    return lines


def sections_json(sections: Iterable[Section], graph: Graph) -> list[dict[str, object]]:
    """The sections as plain data; nodes by the names that reports have for them."""
    titles = addresses(graph)
    return [_section_json(section, titles) for section in sections]


# -------------------------------------------------------------------- in words


def _section_json(section: Section, titles: dict[ItemId, str]) -> dict[str, object]:
    rows = []
    for one in section.answers:
        nodes = [titles.get(item, item) for item in one.items]
        rows.append({"text": one.text, "nodes": nodes, "figure": one.figure})
    named = {"question": section.key, "title": section.title, "note": section.note}
    return {**named, "unit": section.unit, "answers": rows}


def _path_section(asked: Asked, key: str, title: str, weights: Weights, nothing: str) -> Section:
    if weights.origin == "nothing":
        return Section(key, title, note=nothing, unit=weights.unit)
    path = network.longest_path(asked.graph, weights.of)
    total = sum(weights.of.get(item, 0.0) for item in path)
    share = f" of {_amount(weights.total, weights.unit)} in all" if weights.total else ""
    row = Answer(f"{_amount(total, weights.unit)}{share}: {_listed(asked, path, ' → ')}", path, total)
    return Section(key, title, (row,), _origin(asked, weights), weights.unit)


def _origin(asked: Asked, weights: Weights) -> str:
    """Where the figures are from."""
    older = ", of an older version of the program" if asked.is_stale else ""
    match weights.unit, weights.origin:
        case "s", _:
            words = f"Forward and backward of each node, as the last run took them{older}."
        case _, "run":
            words = f"What each node made in the last run{older}; views weigh nothing."
        case _:
            words = "What each node will make, by the shapes that are expected before a run; views weigh nothing."
    unknown = _count(weights.unknown, "node") if weights.unknown else ""
    return f"{words} Nothing is known of {unknown}." if unknown and weights.unit != "s" else words


def _gate_answer(asked: Asked, leaf: ItemId, through: tuple[ItemId, ...] | None, known: GradientFlows) -> Answer:
    name, roots = asked.name(leaf), _listed(asked, known.roots, ", ")
    if leaf in known.roots:
        return Answer(f"{name} is the root itself.", (leaf,))
    if through is None:
        return Answer(f"{name}: no gradient reaches it from {roots}.", (leaf,))
    if not through:
        return Answer(f"{name}: no one node; its gradient comes from {roots} on ways that share nothing.", (leaf,))
    gate = asked.name(through[-1])
    if len(through) == 1:
        return Answer(f"{name}: through {gate}.", (leaf, *through))
    return Answer(f"{name}: through {gate}, and before it {_listed(asked, through[:-1], ' → ')}.", (leaf, *through))


def _amount(value: float, unit: str) -> str:
    """``1.25 ms``, ``4 KiB``."""
    if unit == "B":
        return in_words(value)
    for scale, word in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{format_number(value / scale)} {word}"
    return f"{format_number(value * 1e6)} µs"


def _count(items: Sequence[ItemId], word: str) -> str:
    return f"1 {word}" if len(items) == 1 else f"{len(items):,} {word}s"


def _listed(asked: Asked, items: Sequence[ItemId], joint: str) -> str:
    if len(items) <= MOST_NAMED:
        return joint.join(asked.name(item) for item in items)
    half = MOST_NAMED // 2
    named = [asked.name(item) for item in (*items[:half], *items[-half:])]
    return joint.join([*named[:half], f"… {len(items) - 2 * half:,} more …", *named[half:]])
