"""One round: a text by its lines, with what a program has changed of what was read of it."""

import ast
from bisect import bisect_left
from collections.abc import Iterable

import msgspec

from gradstudio.program.original.alike import opcodes_of
from gradstudio.program.original.statement_lines import StatementLines
from gradstudio.program.original.statement_pairs import pairs_of
from gradstudio.program.original.token_edits import WordEdit, applied, word_edits

FINE, WHOLE_STATEMENTS, AROUND, OUTERMOST, DEFINITIONS = range(5)
"""How much is printed anew where something changed: words, statements, what stands around them, all of it.

The last: all definitions, too, for those that are printed may take other arguments than those that were typed.
"""


class LineEdit(msgspec.Struct, frozen=True, order=True):
    """Lines `first` to before `end` (from 1) become `lines`; `order` is theirs among those put in at one place."""

    first: int
    end: int
    order: int
    lines: tuple[str, ...]


class LineEdits:
    """Finds the edits of one round.

    Attributes:
        edits: whole lines, and `words` parts of lines.
        anew: the lines of the text that are printed anew although not all on them was changed.
    """

    def __init__(
        self, typed: StatementLines, places: dict[int, int], printed: StatementLines, wanted: StatementLines, level: int
    ) -> None:
        """Compare what a text is printed as with what is wanted.

        Args:
            typed: the text.
            places: by the number of a printed statement, that of the typed one.
            printed: what was read of the text, as it is printed.
            wanted: what is to be said.
            level: how much is printed anew.
        """
        self.typed, self.printed, self.wanted, self.level = typed, printed, wanted, level
        self.places = places
        self.pairs = pairs_of(printed, wanted)
        self.owners: dict[int, list[int]] = {}
        for number, place in places.items():
            self.owners.setdefault(place, []).append(number)
        self.edits: list[LineEdit] = []
        self.words: list[WordEdit] = []
        self.anew: list[tuple[int, int]] = []
        self._gone = set(self.pairs.gone)
        self._of_wanted = {new: old for old, new in self.pairs.other.items()}
        self._siblings: dict[int, list[int]] = {}
        for number, one in enumerate(wanted.statements):
            self._siblings.setdefault(one.parent, []).append(number)
        self._coarse: set[int] = set()

    def text(self) -> str | None:
        """The text with the edits; None where they cannot be said by lines of it."""
        gone = [k for k in self.pairs.gone if not _is_import(self.printed, k)]
        fine = [self._take_out(k) for k in gone]
        fine += [self._change(k) for k in self._changed()]
        fine += [self._put_in(k) for k in self.pairs.new if not _is_import(self.wanted, k)]
        if self.level >= DEFINITIONS:
            self._print_definitions()
        if not all(fine) or not all(map(self._print_anew, sorted(self._coarse))):
            return None
        self._note_comments()
        lines = list(self.typed.lines)
        regions = self._outermost()
        kept = [one for one in self.edits if one in regions or not _within(one.first, one.end, regions)]
        applied(lines, [one for one in self.words if not _within(one.line, one.line + 1, regions)])
        for edit in sorted(kept, reverse=True):
            lines[edit.first - 1 : edit.end - 1] = edit.lines
        return "\n".join(lines)

    def _changed(self) -> list[int]:
        """What changed; first without what was typed in another definition, which may follow from the rest."""
        changed = [k for k in self.pairs.changed if not _is_import(self.printed, k)]
        own = [k for k in changed if self._own_place(k) is not None]
        return own if self.level == FINE and own else changed

    def _print_definitions(self) -> None:
        """Let all definitions be printed anew."""
        for place, one in enumerate(self.typed.statements):
            if one.name and one.parent < 0 and place in self.owners:
                self._coarse.add(place)

    # ------------------------------------------------------------------ one statement

    def _take_out(self, number: int) -> bool:
        """Take out what is gone; False: that cannot be said, as for the others."""
        place = self.places.get(number)
        if place is None:
            return False
        end = self.typed.end_of(place)
        inside = [k for one in range(place, end) for k in self.owners.get(one, ())]
        if self.level in (AROUND, OUTERMOST) or not self._gone.issuperset(inside):
            return self._give_up(place)
        self.edits.append(LineEdit(self.typed.with_comments(place), self.typed.statements[place].last + 1, 0, ()))
        return True

    def _change(self, number: int) -> bool:
        place = self.places.get(number)
        if place is None:
            return False
        if self.level in (AROUND, OUTERMOST) or self.printed.indent(number) != self.wanted.indent(
            self.pairs.other[number]
        ):
            return self._give_up(place)
        other = self.pairs.other[number]
        if self.level in (FINE, DEFINITIONS):
            words = word_edits((self.typed, place), (self.printed, number), (self.wanted, other))
            if words:
                self.words += words
                return True
        if len(self.owners[place]) > 1 or len(self.typed.statements[place].nodes) > 1:
            return self._give_up(place)
        one, new = self.typed.statements[place], self.wanted.statements[other]
        lines = self.wanted.text(new.first, new.head_last, len(self.wanted.indent(other)), self.typed.indent(place))
        lines[-1] = lines[-1].removesuffix(self.wanted.beside(other)) + self.typed.beside(place)
        self.edits.append(LineEdit(one.first, one.head_last + 1, 0, tuple(lines)))
        return True

    def _put_in(self, number: int) -> bool:
        """Put in what is new, unless it stands in what is put in anyway."""
        one = self.wanted.statements[number]
        if one.parent in self.pairs.new:
            return True
        anchor = self._anchor(number)
        if anchor is None:
            inside = self._of_wanted.get(one.parent)
            return inside is not None and inside in self.places and self._give_up(self.places[inside])
        place, is_behind = anchor
        if self.level in (AROUND, OUTERMOST):
            return self._give_up(place)
        lines = self._new_lines(number, self.typed.indent(place))
        at = self.typed.statements[place].last + 1 if is_behind else self.typed.with_comments(place)
        if not is_behind and not lines[0] and at > 1 and not self.typed.lines[at - 2].strip():
            del lines[0]  # there is a blank line already
        self.edits.append(LineEdit(at, at, number, tuple(lines)))
        return True

    def _new_lines(self, number: int, indent: str) -> list[str]:
        """A new statement with its comments; one that only moved as it was typed."""
        one = self.wanted.statements[number]
        moved = [k for k in self.pairs.gone if self.printed.statements[k].key == one.key and k in self.places]
        if moved and one.last == one.head_last and len(self.owners[self.places[moved[0]]]) == 1:
            place = self.places[moved[0]]
            last = self.typed.statements[place].last
            return self.typed.text(self.typed.with_comments(place), last, len(self.typed.indent(place)), indent)
        first, width = self.wanted.with_comments(number), len(self.wanted.indent(number))
        gap = [""] if first > 1 and not self.wanted.lines[first - 2].strip() else []
        return [*gap, *self.wanted.text(first, one.last, width, indent)]

    def _anchor(self, number: int) -> tuple[int, bool] | None:
        """The typed statement behind which (True), or before which, a new one goes; None where there is none."""
        back = self._of_wanted
        parent = self.wanted.statements[number].parent
        siblings = self._siblings[parent]
        at = bisect_left(siblings, number)
        behind, is_first = None, False
        for k in reversed(siblings[:at]):
            if k in back:
                behind = self._own_place(back[k])
                # Settings are printed above definitions, and may be typed below them.
                is_first = bool(self.wanted.statements[k].name) and not self.wanted.statements[number].name
                if behind is not None or not _is_import(self.wanted, k):
                    break
        if behind is not None and not is_first:
            return behind, True
        for k in siblings[at + 1 :]:
            if k in back:
                ahead = self._own_place(back[k])
                if ahead is not None:
                    return ahead, False
                return (behind, True) if behind is not None else None
        return (behind, True) if behind is not None else self._place_of_gone(back.get(parent, -1))

    def _place_of_gone(self, parent: int) -> tuple[int, bool] | None:
        """Before what else stood in a block, all of which is gone."""
        if parent < 0:
            return None
        inside = (k for k in self.pairs.gone if self.printed.statements[k].parent == parent)
        places = (place for k in inside if (place := self._own_place(k)) is not None)
        return next(((place, False) for place in places), None)

    def _own_place(self, number: int) -> int | None:
        """Where a printed statement stands in the text, if it stands in the same definition there."""
        place = self.places.get(number)
        if place is None:
            return None
        return place if self.typed.statements[place].within == self.printed.statements[number].within else None

    # ------------------------------------------------------------------ more than a statement

    def _give_up(self, place: int) -> bool:
        """Let all around a typed statement be printed anew."""
        if self.level >= OUTERMOST:
            while self.typed.statements[place].parent >= 0:
                place = self.typed.statements[place].parent
        self._coarse.add(place)
        return True

    def _print_anew(self, place: int) -> bool:
        """Print the smallest statement anew that holds a place, and of which all is printed in one piece."""
        while place >= 0:
            run = self._printed_in_one(place)
            if run is not None:
                first, last = run
                one = self.typed.statements[place]
                begin, end = (
                    self.wanted.with_comments(first),
                    max(s.last for s in self.wanted.statements[first : last + 1]),
                )
                width = len(self.wanted.indent(first))
                lines = self.wanted.text(begin, end, width, self.typed.indent(place))
                edit = LineEdit(self.typed.with_comments(place), one.last + 1, 0, tuple(lines))
                self.edits.append(edit)
                self.anew.append((edit.first, one.last))
                return True
            place = self.typed.statements[place].parent
        return False

    def _printed_in_one(self, place: int) -> tuple[int, int] | None:
        """The wanted statements, first and last, that are in the place of a typed one with all that it holds."""
        inside = [k for one in range(place, self.typed.end_of(place)) for k in self.owners.get(one, ())]
        if not inside:
            return None
        first, last = min(inside), max(inside)
        if len(set(inside)) <= last - first and any(k in self.places and k not in inside for k in range(first, last)):
            return None
        depth = len(self.printed.indent(first))
        indents = [len(self.printed.indent(k)) for k in range(first, last + 1)]
        is_open = last + 1 < len(self.printed.statements) and len(self.printed.indent(last + 1)) > depth
        if min(indents) < depth or is_open:
            return None
        before = max((new for old, new in self.pairs.other.items() if old < first), default=-1) + 1
        behind = min((new for old, new in self.pairs.other.items() if old > last), default=len(self.wanted.statements))
        if before >= behind or any(
            len(self.wanted.indent(k)) < len(self.wanted.indent(before)) for k in range(before, behind)
        ):
            return None
        return before, behind - 1

    def _outermost(self) -> set[LineEdit]:
        """Of what is printed anew, what nothing else holds that is."""
        regions = [
            one for one in self.edits if any(one.first == first and one.end == last + 1 for first, last in self.anew)
        ]
        return {
            one
            for one in regions
            if not any(other != one and other.first <= one.first and one.end <= other.end for other in regions)
        }

    # ------------------------------------------------------------------ comments

    def _note_comments(self) -> None:
        """Comments above and beside statements that were changed; where they are otherwise in the text, they stay."""
        for old, new in self.pairs.other.items():
            place = self.places.get(old)
            if place is None:
                continue
            self._change_above(place, [text for _, text in self.printed.above(old)], self.wanted.above(new))
            is_alone = self.owners[place] == [old] and old not in self.pairs.changed
            if is_alone and self.printed.beside(old).strip() != self.wanted.beside(new).strip():
                one, beside = self.typed.statements[place], self.wanted.beside(new)
                width = len(self.typed.lines[one.head_last - 1])
                self.words.append(WordEdit(one.head_last, one.end, width, beside))

    def _change_above(self, place: int, before: list[str], after: list[tuple[int, str]]) -> None:
        """Take out and put in what is other of the comments above a statement."""
        wanted = [text for _, text in after]
        if before == wanted:
            return
        own = self.typed.above(place)
        at = [line for line, _ in own] if len(own) == len(before) else []
        at += [self.typed.statements[place].first] * (len(before) + 1 - len(at))
        indent = self.typed.indent(place)
        for tag, a, b, c, d in opcodes_of(before, wanted):
            if tag == "equal":
                continue
            new = tuple(indent + text for text in wanted[c:d])
            gone = [line for line in at[a:b] if line in dict(own)]
            self.edits += [LineEdit(line, line + 1, 0, ()) for line in gone[1:]]
            first = gone[0] if gone else at[a]
            self.edits.append(LineEdit(first, first + len(gone[:1]), 0, new))


def _is_import(text: StatementLines, number: int) -> bool:
    one = text.statements[number]
    return one.parent < 0 and isinstance(one.node, ast.Import | ast.ImportFrom)


def _within(first: int, end: int, regions: Iterable[LineEdit]) -> bool:
    return any(one.first <= first and end <= one.end for one in regions)
