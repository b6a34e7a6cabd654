"""Whole merge: all of an edited text is read, and put in the place of the one that a graph was printed as.

What stands in the text as it stood keeps its id, its place, its results and its notes; what no text shows
(muted nodes, nodes that cannot run) stays while the lines around it do.
"""

import ast
import secrets
from pathlib import PurePosixPath

from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.groups.definitions import group_holding
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, StoredTensor, Wire
from gradstudio.graph.ports.muted_wires import without_sources
from gradstudio.graph.ports.wire_dots import dots_by_end, wire_of
from gradstudio.graph.text.code_records import code_of, holds_code, is_code, is_code_at
from gradstudio.graph.text.code_text import outdented
from gradstudio.graph.text.drawn_bodies import bodies_in
from gradstudio.program.code_cards import may_be_drawn
from gradstudio.program.errors import NotReadable
from gradstudio.program.merging.definition_merge import merged_definitions
from gradstudio.program.merging.printed_statements import entries_of, hidden_items
from gradstudio.program.merging.record_merge import RecordMerge, is_as_read
from gradstudio.program.merging.statement_matching import Match, Matching
from gradstudio.program.model import Span
from gradstudio.program.printing.comment_lines import comment_lines, paragraphs
from gradstudio.program.reading.code.undrawn import Key
from gradstudio.program.reading.expressions.expression_reader import StoredOf
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import Script, write

NEARLY = "Did you mean"
"""What the reason of a slip of the pen says."""


def merge_whole(graph: Graph, text: str, *, stem: str = "program", keeps_code: bool = False) -> Graph:
    """The graph that an edited text means, as `merge.merge_text` gives it, by reading all of the text again.

    Args:
        graph: what the text was printed from, before it was edited.
        text: Python source, without the report at the end.
        stem: the name under which the text was printed.
        keeps_code: what is not drawn is kept as it stands, also where the graph has had none of that.

    Raises:
        NotReadable: a canvas cannot express the text; with line, column and reason.
    """
    stored = _stored_of(graph, text)
    if holds_code(graph):
        _refuse_slips(graph, text, stored)
    keeps_code = keeps_code or holds_code(graph)
    return _merged(graph, read_script(text, stored, pasted=True, keeps_code=keeps_code).graph, stem)


def draw_code(graph: Graph, item: ItemId, *, stem: str = "program") -> Graph | None:
    """The graph in which all of a card of code is drawn that can be; None when nothing of it can.

    The text is read as a whole, for what stands around the card may put it in doubt; the other cards stay as they are.
    """
    if not may_be_drawn(graph, item):
        return None
    script = write(graph, stem=stem)
    spans = [*script.spans, *(span for inside in script.insides.values() for span in inside)]
    codes = {span.node: span for span in spans if _is_code_of(graph, span.node)}
    if item not in codes:
        return None
    lines = script.code.split("\n")
    kept = [keys for one, span in codes.items() if one != item and (keys := _begins(lines, span))]
    try:
        read = read_script(script.code, _stored_of(graph, script.code), pasted=True, keeps_code=True, kept=kept)
    except NotReadable:
        return None
    first, last = codes[item].line, codes[item].end_line
    drawn = frozenset(bodies_in(node)) if (node := graph.nodes.get(item)) is not None else frozenset[str]()
    here = [one for one, line in read.lines.items() if first <= line <= last]
    here = [one for one in here if group_holding(read.graph, one) not in drawn]
    if all(_is_code_of(read.graph, one) for one in here):
        return None
    return _merged(graph, read.graph, stem, item)


def _is_code_of(graph: Graph, item: ItemId) -> bool:
    """Whether an item of a program, or of a definition of it, is a card of code."""
    return any(is_code_at(one, item) for one in graphs_of(graph))


def _begins(lines: list[str], span: Span) -> list[Key]:
    """Where the statements of a card of code begin in the text."""
    part = outdented(lines[span.line - 1 : span.end_line], span.column)
    return [(span.line - 1 + one.lineno, span.column + one.col_offset) for one in ast.parse(part).body]


def _merged(graph: Graph, read: Graph, stem: str, drawn: ItemId | None = None) -> Graph:
    merging = _Merging(graph, read, stem, drawn)
    target = merging.target(merging.matched)
    if not merging.means_the_text(target):
        target = merging.target(Match(merging.matched.old, set()))
    return target


def _stored_of(graph: Graph, text: str) -> StoredOf:
    """Gives the data that a text names from those that the document holds."""

    def stored(file: str) -> StoredTensor:
        tensor = graph.tensors.get(PurePosixPath(file).stem)
        if tensor is None:
            raise NotReadable(f"the document holds no data under “{file}”.", _line_of(text, file))
        return tensor

    return stored


def _refuse_slips(graph: Graph, text: str, stored: StoredOf) -> None:
    """Where code is kept, what was just typed and is nearly something that is drawn is still no code.

    Raises:
        NotReadable: with what was meant, as far as that can be told.
    """
    codes = (code_of(node) for node in graph.nodes.values() if is_code(node))
    known = {line.strip() for code in codes for line in code.split("\n")}
    lines = text.split("\n")
    try:
        read_script(text, stored, pasted=True)
    except NotReadable as error:
        slips = [one for one in error.all if NEARLY in one.reason and lines[one.line - 1].strip() not in known]
        if slips:
            first, *others = slips
            raise NotReadable(first.reason, first.line, first.column, tuple(others)) from None


def _line_of(text: str, words: str) -> int:
    return text.count("\n", 0, max(0, text.find(words))) + 1


class _Merging:
    """One text against one graph."""

    def __init__(self, graph: Graph, read: Graph, stem: str, drawn: ItemId | None = None) -> None:
        """Compare them; the card `drawn` is another statement now, whatever the text says of it."""
        self.graph, self.read, self.stem = graph, read, stem
        self.definitions = merged_definitions(graph, read, stem)
        self.script = write(graph, stem=stem)
        self.printed = write(read, stem=stem)
        before = [entry for entry in entries_of(self.script) if entry.item != drawn]
        after = entries_of(self.printed)
        self.before, self.after = before, after
        self.remarks = _remarks(self.script)
        shown = {line.strip() for line in self.printed.code.split("\n")}
        unseen = hidden_items(graph, before)
        gone = [item for item in graph.order() if item in self.remarks and self.remarks[item] not in shown]
        gone += [drawn] if drawn is not None else []
        self.matched = Matching(graph, before, gone, read).match(after)
        taken = set(self.matched.old.values())
        self.kept = [item for item in graph.order() if item in unseen and item not in taken and item not in gone]
        self.ids = {item: self.matched.old.get(item) or self._fresh(item) for item in read.order()}

    def target(self, matched: Match) -> Graph:
        """The text's graph under the old ids; what is printed the same keeps its record."""
        target = Graph()
        target.header, target.definitions = self.read.header, self.definitions
        target.tensors = {**self.graph.tensors, **self.read.tensors}
        for body, items in self.read.bodies.items():
            owner = self._body(body)
            target.bodies[owner] = tuple(self.ids[item] for item in items)
            target.parents.update((self.ids[item], owner) for item in items)
        self._records(target, matched)
        self._wires(target, matched)
        self._tails(target)
        self._keep_hidden(target)
        target.nodes = {item: without_sources(node, target) for item, node in target.nodes.items()}
        keys = {key for item in (*target.nodes, *target.blocks) for key in (item, f"note:{item}")}
        target.places = {key: place for key, place in self.graph.places.items() if key in keys}
        for end, dots in dots_by_end(self.graph).items():
            if wire_of(target, end) == wire_of(self.graph, end):
                target.places |= {key: self.graph.places[key] for key in dots}
        return target

    def means_the_text(self, target: Graph) -> bool:
        """Whether the target is printed as the text is, comments and blank lines aside."""
        kept = self.matched.same.intersection(self.read.nodes)
        if all(is_as_read(target.nodes[self.ids[item]], self.read.nodes[item]) for item in kept):
            return True
        return _statements(write(target, stem=self.stem)) == _statements(self.printed)

    # -------------------------------------------------------------- records

    def _records(self, target: Graph, matched: Match) -> None:
        records = RecordMerge(
            self.graph,
            self.read,
            self.matched,
            self.before,
            self.after,
            is_first=self._is_first,
            clean=self._clean,
        )
        for item in self.read.blocks:
            target.blocks[self.ids[item]] = records.block(item, self.ids[item])
        for item in self.read.nodes:
            target.nodes[self.ids[item]] = records.node(item, self.ids[item], is_same=item in matched.same)

    def _is_first(self, item: ItemId) -> bool:
        """Whether an item of the text is the first of its body, what stands in its head aside."""
        in_heads = self.printed.references.in_heads
        return item == next((one for one in self.read.bodies[self.read.parents[item]] if one not in in_heads), item)

    def _clean(self, note: str) -> str:
        """A note without the lines about what cannot run, which the reader took for notes."""
        lines, texts = note.splitlines(), comment_lines(note)
        for item, remark in self.remarks.items():
            if item in self.kept and remark in texts:
                at = texts.index(remark)
                own = paragraphs((self.graph.nodes.get(item) or self.graph.blocks[item]).note)
                first = at - len(own) if own and texts[max(0, at - len(own)) : at] == own else at
                first -= 1 if first and not texts[first - 1] else 0
                del lines[first : at + 1], texts[first : at + 1]
        return "\n".join(lines) + ("\n" if lines and note.endswith("\n") else "")

    # -------------------------------------------------------------- wires, tails, what is not shown

    def _wires(self, target: Graph, matched: Match) -> None:
        for wire in self.read.wires.values():
            new = Wire(self.ids[wire.source], wire.output, self.ids[wire.target], wire.port)
            old = self.graph.nodes.get(new.target)
            if old is not None and old.bypassed and wire.target in matched.same:
                self._into_bypassed(target, new)
            else:
                was = self.graph.wires.get((new.target, new.port)) if wire.target in matched.same else None
                target.draw(was if was is not None and self._passes(was, new) else new)

    def _into_bypassed(self, target: Graph, new: Wire) -> None:
        """What a bypassed node lets through comes from where the text says; its other wires are as they were."""
        through = next(iter(self.script.references.validity.ports.get(new.target, ())), new.port)
        for old in self.graph.wires_to(new.target):
            if old.port != through and old.source in target:
                target.draw(old)
        target.draw(Wire(new.source, new.output, new.target, through))

    def _passes(self, was: Wire, new: Wire) -> bool:
        """Whether the wire came by way of a node that only lets its input through, from where the text says."""
        binding = self.script.references.validity.binding
        is_by_way = was.source in self.kept and new.source in self.graph
        return is_by_way and binding(was.source, was.output) == binding(new.source, new.output)

    def _tails(self, target: Graph) -> None:
        for body, text in self.read.tails.items():
            if cleaned := self._clean(text):
                target.tails[self._body(body)] = cleaned

    def _keep_hidden(self, target: Graph) -> None:
        for item in self.kept:
            body = next(b for b in self.graph.ancestors(item) if b == ROOT or ItemId(b) in target.blocks)
            target.bodies[body] = _behind(self.graph, target, item, body)
            target.parents[item] = body
            if item in self.graph.blocks:
                target.blocks[item] = self.graph.blocks[item]
                target.bodies[BodyId(item)] = ()
            else:
                target.nodes[item] = self.graph.nodes[item]
        for item in self.kept:
            for wire in self.graph.wires_to(item):
                if wire.source in target and (wire.target, wire.port) not in target.wires:
                    target.draw(wire)

    def _body(self, body: BodyId) -> BodyId:
        return ROOT if body == ROOT else BodyId(self.ids[ItemId(body)])

    def _fresh(self, item: ItemId) -> ItemId:
        prefix = "b" if item in self.read.blocks else "n"
        while True:
            made = ItemId(prefix + secrets.token_hex(4))
            if made not in self.graph:
                return made


def _behind(graph: Graph, target: Graph, item: ItemId, body: BodyId) -> tuple[ItemId, ...]:
    """The body's order with an item behind the nearest of those that stood before it."""
    items = target.bodies[body]
    before: list[ItemId] = []
    for sibling in graph.bodies[graph.parents[item]]:
        if sibling == item:
            break
        before.append(sibling)
    for sibling in reversed(before):
        if target.parents.get(sibling) == body:
            at = items.index(sibling) + 1
            return (*items[:at], item, *items[at:])
    return (item, *items)


def _remarks(script: Script) -> dict[ItemId, str]:
    """The comment that stands for each item that cannot run."""
    lines = script.code.split("\n")
    shown = {span.node for span in script.spans}
    incomplete = script.references.validity.incomplete
    return {
        item: lines[line - 1].strip() for item, line in script.lines.items() if item not in shown and item in incomplete
    }


def _statements(script: Script) -> list[str]:
    return [line for line in script.code.split("\n") if line.strip() and not line.lstrip().startswith("#")]
