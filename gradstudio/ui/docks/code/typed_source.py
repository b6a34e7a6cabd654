"""The text that a document was read from, as the Code dock shows it: as long as it means the program."""

from collections.abc import Callable, Mapping, Sequence

from gradstudio.errors import GradStudioError
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId
from gradstudio.ui.docks.code.line_diff import is_spacing, merge_theirs
from gradstudio.ui.docks.code.typed_text import TypedText
from gradstudio.ui.state.session import Session

MOST_LINES = 200
"""A longer text is not read by itself after the canvas was edited: when somebody types in it."""


class TypedSource:
    """Follows the program with the text that it was read from.

    Attributes:
        text: beside the program as it is printed; None: the text has no lines for what was edited.
        is_sure: whether the text was read, and means the program.
    """

    def __init__(self, session: Session, merge: Callable[[Graph, str, bool], Edits]) -> None:
        """No text."""
        self._session, self._merge = session, merge
        self.text: TypedText | None = None
        self.is_sure = False

    @property
    def is_sought(self) -> bool:
        """Whether there is a text that is not known to mean the program."""
        original = self._session.graph_store.graph.original
        return bool(original) and not self.is_sure and original.count("\n") < MOST_LINES

    def forget(self) -> None:
        """Another document."""
        self.text, self.is_sure = None, False

    def follow(self, program: Sequence[str]) -> None:
        """The program is another."""
        lines, store = self._session.lines_read, self._session.graph_store
        if not store.graph.original:
            self.forget()
        elif self.text is not None and self.text.program == program:
            return
        elif lines is not None and store.is_untouched:
            self._take(store.graph.original, lines, program)
        elif self.text is not None:
            self.text, self.is_sure = self.text.edited(program), False

    def carry(self, written: Sequence[str], program: Sequence[str]) -> None:
        """What was written means the program."""
        if self.text is not None:
            self.text, self.is_sure = self.text.carried(written, program), True

    def own_words(self, before: list[str], written: list[str], program: list[str]) -> list[str]:
        """What was written, with what the canvas changed; the program's words where that does not mean the program.

        Args:
            before: the program that `written` means.
            written: what stands in the dock.
            program: as it is now.
        """
        end = len("\n".join(written).rstrip().split("\n"))
        behind = written[end:]  # lines to type on are the last
        typed = self.text.edited(program) if self.text is not None and self.text.lines == written[:end] else None
        mixed = typed.lines if typed is not None else merge_theirs(before, written[:end], program)
        if not self._means(mixed):
            self.forget()
            return program
        if typed is not None:
            self.text, self.is_sure = typed, True
        else:
            self.carry(mixed, program)
        return [*mixed, *behind]

    def make_sure(self, program: Sequence[str]) -> None:
        """Read the text, and look for another one where it does not mean the program."""
        graph = self._session.graph_store.graph
        if not graph.original or self.is_sure or not any(program):
            return
        if self.text is not None and self._means(self.text.lines):
            self.is_sure = True
            return
        from gradstudio.program.original.original_script import PRINTED_ANEW, ends_with_report, original_script

        self.forget()
        found = original_script(graph, "program", report=ends_with_report(graph))
        if found.anew != PRINTED_ANEW and found.lines:
            self._take(found.text, found.lines, program)

    def _take(self, text: str, lines: Mapping[ItemId, int], program: Sequence[str]) -> None:
        from gradstudio.program.original.line_pairs import line_pairs
        from gradstudio.program.reading.parser import plain_text

        plain = plain_text(text).rstrip("\n")
        pairs = line_pairs(self._session.graph_store.graph, plain + "\n", lines)
        self.text, self.is_sure = TypedText.of_pairs(plain.split("\n"), program, pairs), True

    def _means(self, lines: Sequence[str]) -> bool:
        """Whether a text means the program, but for blank lines."""
        graph = self._session.graph_store.graph
        try:
            return is_spacing(graph, self._merge(graph, "\n".join(lines).rstrip() + "\n", False))
        except GradStudioError:
            return False
