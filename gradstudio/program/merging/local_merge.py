"""Local merge: where an edit of the text touches neighbours of one body, they alone are read, and the rest stays.

A local reading is taken where it is surely what reading the whole would give: the statements are simple, they bind and
change what the ones before them did, and what reads that reads it as before. Everywhere else there is no answer here.
"""

import ast
import re
import secrets
from collections.abc import Iterable, Sequence

import msgspec

from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.edits import AddNode, AddWire, Edits, RemoveNode, RemoveWire, ReplaceNode, SetPlaces, apply_all
from gradstudio.graph.graph_index import copy_with_index, index_of
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.muted_wires import without_sources
from gradstudio.graph.ports.wire_dots import NOTE, dots_by_end, wire_of
from gradstudio.graph.text.code_records import holds_code
from gradstudio.program.errors import NotReadable
from gradstudio.program.merging.edited_statements import EditedStatements, edited_statements
from gradstudio.program.merging.names_above import NamesAbove
from gradstudio.program.merging.printed_statements import Entry, entries_among
from gradstudio.program.merging.record_merge import RecordMerge, is_as_read
from gradstudio.program.merging.statement_matching import Match, Matching
from gradstudio.program.printing.body_printer import Body
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.statement_printer import StatementPrinter
from gradstudio.program.reading.canvas_families import CanvasFamilies
from gradstudio.program.reading.graph_builder import WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.local_reader import Place, ReadStatements, read_statements
from gradstudio.program.reading.parser import MAX_CHARACTERS, MAX_COMMAS, parse
from gradstudio.program.write import Script, write

MOST_NODES = 10_000
"""Of a larger program the whole is read, which may refuse it."""
_WORD = re.compile(r"\w+")
_OTHER_METHODS = frozenset({"forward", "__call__", "self"})


def merge_locally(graph: Graph, text: str, *, stem: str = "program") -> Graph | None:
    """The graph that an edited text means, as `merge_text` gives it; None where the whole has to be read.

    Args:
        graph: what the text was printed from; no definition's inside.
        text: Python source, without the report at the end.
        stem: the name under which it was printed.
    """
    if graph.edges is not None or len(graph.nodes) > MOST_NODES or len(text) > MAX_CHARACTERS:
        return None
    if text.count(",") + text.count(";") > MAX_COMMAS or holds_code(graph):
        return None  # what code does to the rest, only the whole tells
    script = write(graph, stem=stem)
    if text == script.code:
        return graph.copy()
    edited = edited_statements(graph, script, text)
    if edited is None or any(word in script.code[len(script.prelude) :] for word in ("manual_seed(", "default_dtype(")):
        return None
    try:
        return _LocalMerge(graph, script, edited, stem).target()
    except NotReadable:
        return None  # reading the whole says it, or reads it


class _LocalMerge:
    """One edit of neighbours.

    Raises, from every method, `NotReadable` where only reading the whole tells.
    """

    def __init__(self, graph: Graph, script: Script, edited: EditedStatements, stem: str) -> None:
        self.graph = graph
        self.script = script
        self.edited = edited
        self.stem = stem
        self.analysis = analyse(graph)
        self.references = script.references
        self.gone = self._slice()
        self.names = NamesAbove(script.references, edited.body, frozenset(self.gone))
        self.place = Place(
            canvas=graph,
            families=CanvasFamilies(graph),
            meaning=self.names.meaning,
            indent=edited.indent,
            device=script.device,
            is_first=edited.is_first,
        )

    def target(self) -> Graph:
        """The graph with what was read in the place of what was printed."""
        before = self._read(self.edited.old)
        after = self._read(self.edited.new)
        self._check_names(before, after)
        moved = self._moved(before, after)
        twins = self._twins(before, after, moved)
        target = self._in_place(after, twins) if twins is not None else None
        return target if target is not None else self._spliced_in(after, moved)

    # -------------------------------------------------------------- what is read

    def _slice(self) -> list[ItemId]:
        """The items that were printed there, in their order; none stands among or beside them that no text shows."""
        graph = self.graph
        edited = self.edited
        printed = {item for entry in edited.before for item in (entry.item, *entry.parts)}
        order = graph.bodies[edited.body]
        places = [k for k, item in enumerate(order) if item in printed]
        start = places[0]
        end = places[-1] + 1
        shown = {span.node for span in self.script.spans}
        if len(places) != end - start or len(places) != len(printed):
            raise NotReadable("Something stands among them.", 1)
        if any(item not in shown for item in (*order[max(0, start - 1) : start], *order[end : end + 1])):
            raise NotReadable("What no text shows stands beside them.", 1)
        for item in order[start:end]:
            node = graph.nodes[item]
            sources = (wire.source for wire in graph.wires_to(item))
            if node.muted_wires or node.bypassed or any(one in graph.nodes and one not in shown for one in sources):
                raise NotReadable("What no text shows is wired to them.", 1)
        return list(order[start:end])

    def _read(self, lines: list[str]) -> ReadStatements:
        edited = self.edited
        modules = _imported(edited.imports)
        if edited.imports != edited.printed_imports:
            printed = _imported(edited.printed_imports).paths()
            bound = modules.paths()
            others = bound.keys() - printed.keys()
            is_noted = any("#" in line for line in edited.imports)
            if is_noted or bound | printed != bound or not others.isdisjoint(self.names.everywhere):
                raise NotReadable("The imports say otherwise.", 1)
        return read_statements(lines, self.place, modules)

    def _check_names(self, before: ReadStatements, after: ReadStatements) -> None:
        """That what they bind changes nothing of how the rest is read."""
        names = self.names
        old = before.bound.keys()
        new = after.bound.keys()
        if names.is_in_loop and not names.elsewhere.isdisjoint(old | new):
            raise NotReadable("What they bind may be carried from turn to turn.", 1)
        if not (old ^ new).isdisjoint(names.elsewhere.union(_WORD.findall(self.script.prelude))):
            raise NotReadable("Names are others now.", 1)
        if self.graph.definitions:
            self._check_calls(before.words | after.words)

    def _check_calls(self, words: frozenset[str]) -> None:
        """That they say nothing of what definitions are called with."""
        graph = self.graph
        made = {name for node in graph.nodes.values() if node.operator.startswith(GROUP) for name in node.names}
        if not words.isdisjoint(made | graph.definitions.keys() | _OTHER_METHODS):
            raise NotReadable("They may call a definition.", 1)
        for one in graph.definitions.values():
            blocks = one.graph.blocks.values()
            nodes = one.graph.nodes.values()
            if any(block.kind == "if" for block in blocks) or any(node.operator == "python.choice" for node in nodes):
                raise NotReadable("What a definition does may depend on its calls.", 1)

    def _moved(self, before: ReadStatements, after: ReadStatements) -> dict[Wire, WiredResult]:
        """What is read of them below, and where it comes from now."""
        graph = self.graph
        gone = set(self.gone)
        found: dict[Wire, WiredResult] = {}
        for item in self.gone:
            for wire in graph.wires_from(item):
                if wire.target in gone:
                    continue
                user = graph.nodes.get(wire.target)
                name = self.references.read(wire)
                is_shown = user is not None and self.references.validity.is_live(user.id) and not user.bypassed
                if not is_shown or name not in after.bound or before.kinds.get(name) != after.kinds[name]:
                    raise NotReadable("What reads them is read otherwise now.", 1)
                found[wire] = after.bound[name]
        return found

    # -------------------------------------------------------------- the same nodes with other words

    def _twins(
        self, before: ReadStatements, after: ReadStatements, moved: dict[Wire, WiredResult]
    ) -> dict[ItemId, ItemId] | None:
        """For what was read the item that was printed, where nothing but literals and comments are others."""
        graph = self.graph
        if len(self.gone) != len(after.order):
            return None
        twins = dict(zip(after.order, self.gone, strict=True))
        for new, old in twins.items():
            one = after.nodes[new]
            other = graph.nodes[old]
            if (one.operator, one.names, one.nested) != (other.operator, other.names, other.nested):
                return None
        drawn = {_renamed(wire, twins) for wire in after.wires}
        is_same = drawn == {wire for item in self.gone for wire in graph.wires_to(item)}
        stays = all(wire.source == twins.get(end.source) and wire.output == end.output for wire, end in moved.items())
        return twins if is_same and stays else None

    def _in_place(self, after: ReadStatements, twins: dict[ItemId, ItemId]) -> Graph | None:
        """The graph with other records; None where other lines belong together."""
        read = self.graph.copy()
        records = (msgspec.structs.replace(after.nodes[new], id=old) for new, old in twins.items())
        apply_all(read, tuple(ReplaceNode(record) for record in records))
        analysis = Analysis(read, before=self.analysis)
        if analysis.structure is not self.analysis.structure:
            return None
        entries, matched = self._match(read, analysis, self.gone)
        if any(matched.old.get(item) != item for item in self.gone):
            return None
        target = self.graph.copy()
        target.nodes |= self._records(read, self.gone, entries, matched, {item: item for item in self.gone})
        return self._with_places(target)

    # -------------------------------------------------------------- other nodes

    def _spliced_in(self, after: ReadStatements, moved: dict[Wire, WiredResult]) -> Graph:
        """The graph with other nodes, under the ids of those that they are."""
        itself = {item: item for item in after.order}
        read = self._spliced(itself, after.nodes, after, moved)
        analysis = Analysis(read, before=self.analysis)
        self._check(analysis, after)
        entries, matched = self._match(read, analysis, after.order)
        ids = {item: matched.old.get(item) or self._fresh() for item in after.order}
        records = self._records(read, after.order, entries, matched, ids)
        target = self._spliced(ids, {item: records[ids[item]] for item in after.order}, after, moved)
        muting = [target.nodes[item] for item in index_of(target).muting]
        apply_all(target, tuple(ReplaceNode(without_sources(node, target)) for node in muting))
        return self._with_places(target)

    def _spliced(
        self,
        ids: dict[ItemId, ItemId],
        nodes: dict[ItemId, Node],
        after: ReadStatements,
        moved: dict[Wire, WiredResult],
    ) -> Graph:
        """A copy of the graph with what was read in the place of what was printed, made by edits of a few items."""
        target = copy_with_index(self.graph)
        body = self.edited.body
        at = target.bodies[body].index(self.gone[0])
        wires = dict.fromkeys(wire for item in self.gone for wire in (*target.wires_to(item), *target.wires_from(item)))
        drawn = [_renamed(wire, ids) for wire in after.wires]
        drawn += [
            Wire(ids.get(end.source, end.source), end.output, wire.target, wire.port) for wire, end in moved.items()
        ]
        edits: Edits = (
            *(RemoveWire(wire) for wire in wires),
            *(RemoveNode(item) for item in self.gone),
            *(AddNode(nodes[item], body, at + k) for k, item in enumerate(after.order)),
            *(AddWire(wire) for wire in drawn),
        )
        apply_all(target, edits)
        return target

    def _check(self, analysis: Analysis, after: ReadStatements) -> None:
        """That all the rest is printed as it was."""
        before = self.analysis
        own = set(after.order)
        gone = set(self.gone)
        now = analysis.validity
        then = before.validity
        if now.incomplete != then.incomplete or now.muted != then.muted:
            raise NotReadable("Something cannot run.", 1)
        if analysis.nested - own != before.nested - gone:
            raise NotReadable("Something is printed elsewhere.", 1)
        others = {item for item, _ in analysis.addresses.items() - before.addresses.items()}
        if any(self._is_printed(item) for item in others - own):
            raise NotReadable("Something has another name.", 1)

    def _is_printed(self, item: ItemId) -> bool:
        """Whether the text has an item's address for a name."""
        if item in self.graph.blocks:
            return self.references.variable(item) == self.analysis.addresses[item]
        return not self.graph.nodes[item].names and self.references.bound(item) != ()

    # -------------------------------------------------------------- what belongs together

    def _match(self, read: Graph, analysis: Analysis, items: Sequence[ItemId]) -> tuple[list[Entry], Match]:
        """What was read as it is printed, and which of the old statements it is."""
        edited = self.edited
        entries = self._printed(analysis, frozenset(items))
        matched = Matching(self.graph, edited.before, (), read).match(entries)
        old = [entry.text for entry in edited.before]
        new = [entry.text for entry in entries]
        if len(old) != len(new) and (_goes_on(old, new, edited.below) or _goes_on(old[::-1], new[::-1], edited.above)):
            raise NotReadable("The lines beside them may be them.", 1)
        return entries, matched

    def _printed(self, analysis: Analysis, items: frozenset[ItemId]) -> list[Entry]:
        """The entries of some items; above the first stands a blank line, or what the imports end with."""
        edited = self.edited
        script = self.script
        part = _Part(
            StatementPrinter(References(analysis), device=script.device, stem=self.stem, bodies=script.bodies), items
        )
        part.write(edited.body, edited.indent // len(INDENT))
        spans, _ = part.placed_below(1)
        head, *others = entries_among(["", *part.lines], spans)
        gap: tuple[str, ...] = ("",) if analysis.graph.nodes[head.item].blank_before else ()
        if edited.is_first:
            before = script.prelude if edited.body == ROOT else ""
            gap = ("",) * (len(before) - len(before.rstrip("\n")) - 1)
        if edited.is_first and edited.body == ROOT and bool(part.imports or self._imports()) != bool(script.prelude):
            raise NotReadable("The imports come or go.", 1)
        return [msgspec.structs.replace(head, above=(*gap, *head.above[1:])), *others]

    def _imports(self) -> bool:
        """Whether the statements that nobody edited need an import."""
        gone = set(self.gone)
        return any(piece.imports for item, piece in self.script.memo.pieces.items() if item not in gone)

    def _records(
        self,
        read: Graph,
        items: Sequence[ItemId],
        entries: list[Entry],
        matched: Match,
        ids: dict[ItemId, ItemId],
    ) -> dict[ItemId, Node]:
        first = items[0] if self.edited.is_first else None
        merged = RecordMerge(
            self.graph,
            read,
            matched,
            self.edited.before,
            entries,
            is_first=lambda item: item == first,
            clean=lambda note: note,
        )
        made = {item: merged.node(item, ids[item], is_same=item in matched.same) for item in items}
        if not all(is_as_read(made[item], read.nodes[item]) for item in items if item in matched.same):
            raise NotReadable("A node is not what its text says.", 1)
        return {ids[item]: node for item, node in made.items()}

    def _with_places(self, target: Graph) -> Graph:
        """The target without the places of what is gone: of items, of their notes, and of dots on wires."""
        graph = self.graph
        gone = [item for item in self.gone if item not in target]
        keys: list[str] = [key for item in gone for key in (item, f"{NOTE}{item}")]
        for end, dots in dots_by_end(graph).items():
            if wire_of(target, end) != wire_of(graph, end):
                keys += dots
        apply_all(target, (SetPlaces({key: None for key in keys if key in target.places}),))
        return target

    def _fresh(self) -> ItemId:
        while (made := ItemId("n" + secrets.token_hex(4))) in self.graph:
            pass
        return made


class _Part(Body):
    """The statements of one body that were read."""

    def __init__(self, printer: StatementPrinter, items: frozenset[ItemId]) -> None:
        super().__init__(printer)
        self._items = items

    def shown(self, body: BodyId) -> Iterable[ItemId]:
        return [item for item in self.graph.bodies[body] if item in self._items]

    def tail(self, body: BodyId) -> str:
        return ""


def _goes_on(short: list[str], long: list[str], beside: Entry | None) -> bool:
    """Whether all of the shorter text begins the longer one, which goes on as what stands beside both does."""
    short, long = sorted((short, long), key=len)
    return beside is not None and long[: len(short)] == short and long[len(short)] == beside.text


def _imported(lines: Sequence[str]) -> Modules:
    """What a text imports, beside what it need not import."""
    modules = Modules()
    modules.take_usual()
    for statement in parse("\n".join(lines) + "\n").body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            raise NotReadable("It imports nothing.", statement.lineno)
        modules.read(statement)
    return modules


def _renamed(wire: Wire, ids: dict[ItemId, ItemId]) -> Wire:
    return Wire(ids.get(wire.source, wire.source), wire.output, ids.get(wire.target, wire.target), wire.port)
