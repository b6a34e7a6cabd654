"""Body: the statements of one graph as lines, with the place of every node in them."""

from bisect import bisect_right
from collections.abc import Iterable

from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Block, BodyId, ItemId
from gradstudio.graph.operator_rows import is_of_autograd
from gradstudio.graph.slices import Slices, is_stop, work_through
from gradstudio.graph.text.code_records import CODE, STANDARD, code_names, does_something
from gradstudio.graph.text.code_records import is_code as holds_code
from gradstudio.graph.text.code_text import indented
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.literal_text import NotALiteral
from gradstudio.graph.text.loop_targets import targets
from gradstudio.graph.text.notes import note_of
from gradstudio.program.model import Span
from gradstudio.program.printing.comment_lines import INDENT, comment_lines, paragraphs, region, remark
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.pretty_printer import columns
from gradstudio.program.printing.print_memo import Key, Memo, Piece
from gradstudio.program.printing.statement_printer import StatementPrinter
from gradstudio.program.printing.trailing_comments import with_comment


class Body:
    """Writes the statements of one graph; lines are counted from 1 at its first.

    Attributes:
        imports: what the lines need.
        pieces: what was written, each with the line where it begins.
        line_of: where items stand of which nothing but a comment is written.
    """

    def __init__(self, printer: StatementPrinter, memo: Memo | None = None) -> None:
        """Nothing is written yet; the printer says of which graph, and under which names."""
        self.printer = printer
        self.references = printer.references
        self.graph = printer.references.graph
        self.validity = printer.references.validity
        self.memo = memo
        self.imports: set[str] = set()
        self.lines: list[str] = []
        self.pieces: list[tuple[int, Piece]] = []
        self.line_of: dict[ItemId, int] = {}
        self._in_heads: set[ItemId] = set()
        self._imported: set[str] = set()

    def placed_below(self, count: int) -> tuple[tuple[Span, ...], dict[ItemId, int]]:
        """Where the items stand, and on which lines, when there are so many lines above."""
        spans = tuple([span for top, piece in self.pieces for span in piece.spans(top + count)])
        lines = {item: line + count for item, line in self.line_of.items()}
        lines.update([(span.node, span.line) for span in spans])
        return spans, lines

    def write(self, body: BodyId, depth: int) -> bool:
        """Write the statements of a body; whether there was one that is more than a comment."""
        return work_through(self.write_slices(body, depth))

    def write_slices(self, body: BodyId, depth: int) -> Slices[bool]:
        """As `write`; blocks in it are written without a stop."""
        indent = INDENT * depth
        first_line = len(self.lines)
        holds = follows_code = False
        notes = ""
        for number, item in enumerate(self.shown(body), 1):
            if is_stop(number):
                yield
            known = self._as_before(item, depth) if not notes else None
            if known is not None:
                self._put(known)
                holds, follows_code = True, False
                continue
            owner = self.graph.nodes.get(item) or self.graph.blocks[item]
            if item in self.validity.muted:
                continue
            if item in self._in_heads:
                continue
            note = self.note(item)
            notes = f"{notes}\n{note}" if notes and note else notes or note
            if item in self.references.nested:
                continue
            is_code = item in self.graph.nodes and holds_code(self.graph.nodes[item])
            is_apart = owner.blank_before or (is_code and follows_code)  # an empty line parts cards of code
            if is_apart and len(self.lines) > first_line and self.lines[-1]:
                self.lines.append("")
            follows_code = is_code
            self.lines.extend(indent + line if line else "" for line in paragraphs(notes))
            notes, last_line = "", len(self.lines)
            holds = self.item(item, depth) or holds
            if len(self.lines) == last_line and last_line > first_line and not self.lines[-1]:
                self.lines.pop()
        tail = self.tail(body)
        above = [""] if tail.startswith("\n") and len(self.lines) > first_line and paragraphs(tail) else []
        self.lines.extend(indent + line if line else "" for line in [*above, *paragraphs(tail.rstrip("\n"))])
        return holds

    def _as_before(self, item: ItemId, depth: int) -> Piece | None:
        """The lines of a drawn statement without comment or gap above it that is printed as it was before."""
        node = self.graph.nodes.get(item)
        if node is None or self.memo is None or node.note or node.blank_before or node.bypassed:
            return None
        if node.operator == CODE:
            return None  # what stands above says whether an empty line parts them
        if item in self.references.nested or item in self.references.targets or item in self._in_heads:
            return None
        return self.memo.known_piece(item, depth) if self.validity.is_live(item) else None

    def shown(self, body: BodyId) -> Iterable[ItemId]:
        """The items of a body that are written; a form leaves some out."""
        return self.graph.bodies[body]

    def note(self, item: ItemId) -> str:
        """The comment above an item: above a loop also those of what its head takes apart; all those of a part."""
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        if not (owner.note or owner.beside or self.references.targets):
            return ""
        notes = [note_of(owner) if item in self.references.nested else owner.note]
        target = self.references.targets.get(item)
        notes += [note_of(self.graph.nodes[part.node]) for part in targets(target)] if target is not None else []
        return "\n".join(filter(None, notes))

    def tail(self, body: BodyId) -> str:
        """The comment after the last statement of a body."""
        return self.graph.tails.get(body, "")

    def item(self, item: ItemId, depth: int) -> bool:
        """Write one item; whether it is more than a comment."""
        if item in self.validity.incomplete:
            self._incomplete(item, depth)
            return False
        block = self.graph.blocks.get(item)
        if block is None:
            return self._statement(item, depth)
        if block.kind == "group":
            return self._group(block, depth)
        line = Line()
        self.printer.head(line, block)
        self._in_heads.update(item for item, start, end in line.marks if item in self.references.in_heads)
        self._put(self._piece(line, depth, None, block.beside, is_code=item in self.references.conditions))
        if not self.write(BodyId(item), depth + 1):
            self.lines.append(INDENT * (depth + 1) + "pass")
        return True

    def _group(self, block: Block, depth: int) -> bool:
        indent = INDENT * depth
        opening = indent + region(block.title)
        self.lines.extend(indent + line for line in paragraphs(remark(block.beside)[2:]))
        self._put(Piece(None, depth, (opening,), ((block.id, 0, len(indent), 0, len(opening)),), frozenset()))
        holds = self.write(BodyId(block.id), depth)
        self.lines.append(indent + "# endregion")
        return holds

    def _statement(self, item: ItemId, depth: int) -> bool:
        node = self.graph.nodes[item]
        if node.bypassed and not self.references.bound(item):
            self.line_of[item] = len(self.lines) + 1
            return False
        self._put(self._printed(item, depth), item, depth)
        return not holds_code(node) or does_something(node)

    def _printed(self, item: ItemId, depth: int) -> Piece:
        """The statement as it was printed for an earlier revision, else anew."""
        key = self.memo.key(item) if self.memo is not None else None
        known = self.memo.pieces.get(item) if self.memo is not None else None
        if known is not None and known.key is key and known.depth == depth:
            return known
        line = Line()
        self.printer.statement(line, item)
        node = self.graph.nodes[item]
        if holds_code(node) and not node.bypassed:
            piece = self._code_piece(line, depth, key, node.beside)
        else:
            piece = self._piece(line, depth, key, node.beside)
        if self.memo is not None:
            self.memo.pieces[item] = piece
        return piece

    def _code_piece(self, line: Line, depth: int, key: Key | None, beside: str) -> Piece:
        """Statements as they were typed: no line is broken, and what is beside them stands above."""
        indent = INDENT * depth
        imports = frozenset(self.printer.imports)
        self.printer.imports.clear()
        above = [indent + one for one in comment_lines(beside)] if beside.strip() else []
        lines = indented(line.text, indent)
        first, last = len(above), len(above) + len(lines) - 1
        marks = tuple((item, first, len(indent), last, len(lines[-1])) for item, _, _ in line.marks)
        return Piece(key, depth, (*above, *lines), marks, imports)

    def _piece(self, line: Line, depth: int, key: Key | None, beside: str, *, is_code: bool = False) -> Piece:
        """What the printer has just written on a line, broken where that is too long, with the comment beside it.

        Where it `is_code`, it stays as it was typed.
        """
        text, indent = line.text, len(INDENT) * depth
        imports = frozenset(self.printer.imports)
        self.printer.imports.clear()
        if is_code or indent + columns(text) <= WIDTH:
            lines, above = with_comment((INDENT * depth + text,), beside)
            marks = tuple([(item, above, indent + start, above, indent + end) for item, start, end in line.marks])
            return Piece(key, depth, lines, marks, imports)
        wrapped = wrap(text, indent)
        lines, above = with_comment(wrapped.lines, beside)
        starts = [piece[0] for piece in wrapped.pieces]
        places = []
        for item, start, end in line.marks:
            offset, _, row, column = wrapped.pieces[bisect_right(starts, start) - 1]
            last, _, end_row, end_column = wrapped.pieces[bisect_right(starts, end - 1) - 1]
            places.append((item, above + row, column + start - offset, above + end_row, end_column + end - last))
        return Piece(key, depth, lines, tuple(places), imports)

    def _put(self, piece: Piece, item: ItemId | None = None, depth: int = 0) -> None:
        self.pieces.append((len(self.lines) + 1, piece))
        self.lines.extend(piece.lines)
        node = self.graph.nodes[item] if item is not None else None
        if node is None or node.operator != CODE:
            self.imports |= piece.imports
            return
        self.imports |= piece.imports - self._imported
        if not depth:  # what code has imported by itself, code below needs no import for
            self._imported |= code_names(node).surely & STANDARD.keys()

    def _incomplete(self, item: ItemId, depth: int) -> None:
        indent = INDENT * depth
        self.line_of[item] = len(self.lines) + 1
        why = "" if is_of_autograd(self.graph, item) else f"  # {self.validity.incomplete[item]}"
        self.lines.append(indent + remark(f"{self._guess(item)}{why}"))
        if item in self.graph.blocks:
            for inner in self.graph.bodies[BodyId(item)]:
                if inner in self.validity.incomplete:
                    self._incomplete(inner, depth)

    def _guess(self, item: ItemId) -> str:
        """The statement as far as it can be said."""
        node = self.graph.nodes.get(item)
        line = Line()
        try:
            if node is None:
                self.printer.head(line, self.graph.blocks[item])
            elif item in self.validity.operators and not node.bypassed:
                self.printer.statement(line, item)
            else:
                names = ", ".join(node.names)
                return f"{names} = {node.operator}(...)" if names else f"{node.operator}(...)"
        except (NotALiteral, Refused, RecursionError):
            return title(self.graph, item)
        finally:
            self.imports |= self.printer.imports
            self.printer.imports.clear()
        return line.text
