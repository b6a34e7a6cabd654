"""What was tried on the side: the answers to the last *What if* and the last gradcheck; it asks nothing itself."""

from collections.abc import Callable, Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Checked, CheckRow, Difference, WhatIfAnswered
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.run.run_questions import RunQuestions

Key = tuple[ItemId, int, bool, str]


class Experiments(QObject):
    """The newest answers; an edit of the program makes them void.

    They speak of what is on the canvas by the ids it has there; of what is not there nothing is told.

    Attributes:
        what_if: the last *What if*; its `error` says in words when it could not be done.
        checked: the last gradcheck, likewise.

    Signals:
        changed(object): frozenset of ids of the nodes whose picture is another one.
    """

    changed = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        questions: RunQuestions | None = None,
        parent: QObject | None = None,
        here: Callable[[ItemId], ItemId | None] | None = None,
    ) -> None:
        """Nothing tried yet; answers come from `questions`, edits from `store`.

        Args:
            here: gives the id on the canvas of what a run speaks of; None: it is not there. Without it every id is
                one of the canvas.
        """
        super().__init__(parent)
        self.what_if: WhatIfAnswered | None = None
        self.checked: Checked | None = None
        self._differences: dict[Key, list[Difference]] = {}
        self._check_rows: dict[ItemId, tuple[CheckRow, ...]] = {}
        self._questions = questions
        self._void = 0
        self._here = here
        self._told: tuple[WhatIfAnswered | None, Checked | None] = None, None
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        if questions is not None:
            questions.answered.connect(self._on_questions_answered)

    def difference(
        self, node: ItemId, output: int = 0, grad: bool = False, path: str = "", turns: tuple[int, ...] | None = None
    ) -> Difference | None:
        """How a value (or gradient) came out otherwise; None when it did not.

        Args:
            turns: of the loops around; None: the last turn in which it differed.
        """
        found = self._differences.get((node, output, grad, path), ())
        return next((each for each in reversed(found) if turns is None or each.turns == turns), None)

    def check_rows(self, node: ItemId) -> tuple[CheckRow, ...]:
        """What gradcheck found for the node's results, an entry per result and input."""
        return self._check_rows.get(node, ())

    def left_out(self, node: ItemId) -> str:
        """Why the last gradcheck has nothing of a node it was asked for; "" when it has, or was not asked."""
        rows = self.checked.left_out if self.checked is not None else ()
        return next((row.reason for row in rows if row.node == node), "")

    @property
    def verdict(self) -> str:
        """The last gradcheck in one line; "" when there is none."""
        checked = self.checked
        if checked is None:
            return ""
        if not checked.rows:
            return f"Gradcheck: {checked.error or 'nothing was checked.'}"
        wrong = sum(not all(row.ok for row in rows) for rows in self._check_rows.values())
        right = len(self._check_rows) - wrong
        told = [(right, "agree" if right > 1 else "agrees"), (wrong, "differ" if wrong > 1 else "differs")]
        told.append((len(checked.left_out), "left out"))
        return f"Gradcheck: {', '.join(f'{count} {word}' for count, word in told if count)}."

    def set_what_if(self, answered: WhatIfAnswered) -> None:
        """Take an answer in place of the last."""
        touched = self._touched_by_what_if()
        self._told = answered, self._told[1]
        answered = self._what_if_here(answered)
        self.what_if = answered
        self._differences = {}
        for each in answered.differences:
            self._differences.setdefault((each.node, each.output, each.grad, each.path), []).append(each)
        self._announce(touched | self._touched_by_what_if())

    def set_checked(self, checked: Checked) -> None:
        """Take an answer in place of the last."""
        touched = self._touched_by_check()
        self._told = self._told[0], checked
        checked = self._checked_here(checked)
        rows: dict[ItemId, list[CheckRow]] = {}
        for row in checked.rows:
            rows.setdefault(row.node, []).append(row)
        self.checked = checked
        self._check_rows = {node: tuple(found) for node, found in rows.items()}
        self._announce(touched | self._touched_by_check())

    def show_again(self) -> None:
        """Something else is on the canvas: tell both anew, of what is there now."""
        what_if, checked = self._told
        if what_if is not None:
            self.set_what_if(what_if)
        if checked is not None:
            self.set_checked(checked)

    def clear(self) -> None:
        """Forget both."""
        self._told = None, None
        touched = self._touched_by_what_if() | self._touched_by_check()
        self.what_if = self.checked = None
        self._differences = {}
        self._check_rows = {}
        self._announce(touched)

    def _what_if_here(self, answered: WhatIfAnswered) -> WhatIfAnswered:
        replace = msgspec.structs.replace
        here = self._here
        node = answered.change.node
        if here is None:
            return answered
        found = tuple(replace(each, node=at) for each in answered.differences if (at := here(each.node)) is not None)
        return replace(answered, change=replace(answered.change, node=here(node) or node), differences=found)

    def _checked_here(self, checked: Checked) -> Checked:
        replace = msgspec.structs.replace
        here = self._here
        if here is None:
            return checked
        rows = tuple(
            replace(row, node=at, source=here(row.source) or row.source)
            for row in checked.rows
            if (at := here(row.node)) is not None
        )
        left_out = tuple(replace(one, node=here(one.node) or one.node) for one in checked.left_out)
        nodes = tuple(here(node) or node for node in checked.nodes)
        return replace(checked, nodes=nodes, rows=rows, left_out=left_out)

    def _touched_by_what_if(self) -> frozenset[ItemId]:
        changed = [self.what_if.change.node] if self.what_if is not None else []
        return frozenset([*changed, *(key[0] for key in self._differences)])

    def _touched_by_check(self) -> frozenset[ItemId]:
        return frozenset(self.checked.nodes) if self.checked is not None else frozenset()

    def _announce(self, nodes: Iterable[ItemId]) -> None:
        touched = frozenset(nodes)
        if touched:
            self.changed.emit(touched)

    def _on_store_edited(self, edits: Edits) -> None:
        if not all(isinstance(edit, SetPlaces) for edit in edits):
            self._make_void()

    def _on_store_replaced(self) -> None:
        self._make_void()

    def _make_void(self) -> None:
        """Forget both, and what is still under way: it was asked of the program as it was."""
        self._void = self._questions.asked if self._questions is not None else 0
        self.clear()

    def _on_questions_answered(self, answer: object) -> None:
        """Keep an answer, unless it is to a question before the last edit, or before the one that is answered."""
        match answer:
            case WhatIfAnswered(request=number) if number > max(self._void, _number(self.what_if)):
                self.set_what_if(answer)
            case Checked(request=number) if number > max(self._void, _number(self.checked)):
                self.set_checked(answer)
            case _:
                return


def _number(answer: WhatIfAnswered | Checked | None) -> int:
    return answer.request if answer is not None else 0
