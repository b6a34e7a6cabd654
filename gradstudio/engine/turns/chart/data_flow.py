"""What leads to one statement of a program, and what comes of it: its values for all rows of the data, and its targets.

Data is what is computed from nothing that is learnt.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Step
from gradstudio.engine.turns.chart.program_lines import NOWHERE, ProgramLines
from gradstudio.engine.turns.chart.whole_data import MOST_ROWS, variables_of
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE

MOST_LEAVES = 64
"""Of a list only so many elements are looked at."""
IN_GROUP = "A chart is drawn of what the program itself computes: choose the card of the group."
ONE_FOR_ALL = "It is one number for all rows: choose the card of the prediction, or of the model."
EFFECTS = "What leads to it writes in place or is Python that is not drawn; it is not computed twice."
NOTHING = "It gives nothing that can be drawn: choose the card of the prediction, or of the model."
BOUND_ANEW: Final = "'{name}' is bound anew behind it: give what follows another name."
NOT_CALLED: Final = "The program does not call it."
CALL = "python.call"


class Compared(NamedTuple):
    """What results are compared with.

    Attributes:
        targets: `(rows,)`; None: nothing is known.
        are_logits: the loss takes the sigmoid itself.
        result, place: the name of what is compared with them, and where it was bound.
    """

    targets: Tensor | None = None
    are_logits: bool = False
    result: str = ""
    place: int = NOWHERE


class DataFlow:
    """What leads to the statement at a place, and from there on.

    Attributes:
        lines, place: all statements, and the one that is looked at; `step` it itself.
        live: the state of the run.
        space: values by name; of what was computed for a chart those of all rows.
    """

    def __init__(self, live: Live, lines: ProgramLines, place: int, most: int = MOST_ROWS) -> None:
        """Nothing is computed yet; of the rows of the data at most so many will be."""
        self.live, self.lines, self.place = live, lines, place
        self._stays = not lines.is_setup(place)
        self.space = dict(live.namespace)
        self._whole: set[int] = set()
        for at, item in enumerate(lines.items):
            if isinstance(item, Head) and (found := variables_of(item, live.namespace, most)):
                self.space.update(found)
                self._whole.add(at)
        self._computed: set[int] = set()

    @property
    def step(self) -> Step:
        """The statement that is looked at."""
        item = self.lines.items[self.place]
        assert isinstance(item, Step)
        return item

    @property
    def result(self) -> str:
        """The name that it binds."""
        return self.step.statement.names[0]

    def inside(self, place: int) -> list[int]:
        """The statements that lead there, but for those of the set-up, in order."""
        return self.lines.leading_to(place, lambda _, at: self.is_given(at))

    def is_given(self, at: int) -> bool:
        """Whether what is bound there is taken as it is: by a loop, or by set-up."""
        item = self.lines.items[at]
        if isinstance(item, Head) or not any(True for _ in self.lines.reads(at)):
            return True
        return self._stays and self.lines.is_setup(at)

    def that_learn(self, inside: list[int]) -> set[int]:
        """Those that compute with what is learnt; all, where nothing is."""
        found: set[int] = set()
        for place in inside:
            for name, at in self.lines.reads(place):
                if at in found or (at not in inside and is_learnt(self.live.namespace.get(name))):
                    found.add(place)
        return found if self.place in found else set(inside)

    def value(self, name: str, at: int) -> object:
        """What a name meant where it was bound there, of all rows of the data."""
        item = self.lines.items[at]
        if isinstance(item, Head) or not self.is_of_whole(at):
            if at in self._whole or (self.lines.last.get(name) == at and name in self.live.namespace):
                return self.space.get(name)
            if isinstance(item, Head) or self.lines.is_setup(at):
                raise CannotDraw(BOUND_ANEW.format(name=name))
        if at not in self._computed:
            self._computed.add(at)
            for read, binder in self.lines.reads(at):
                self.value(read, binder)
            refuse_effects(item)
            access.execute(item.source.code, self.space)
        return self.space.get(name)

    def is_of_whole(self, at: int) -> bool:
        """Whether it is computed from what a loop brings, which all rows stand for."""
        if at in self._whole:
            return True
        return not self.lines.is_setup(at) and any(self.is_of_whole(one) for _, one in self.lines.reads(at))

    def compared(self, rows: int) -> Compared:
        """What the results, or what is computed of them, are compared with: a number for each of so many rows."""
        reached = {self.place}
        for place in range(self.place + 1, len(self.lines.items)):
            reads = list(self.lines.reads(place))
            if not any(at in reached for _, at in reads):
                continue
            for name, at in reads:
                value = self.value(name, at) if at not in reached and self.is_data(at) else None
                if isinstance(value, Tensor) and value.ndim and len(value) == rows and value.numel() == rows:
                    result, binder = next(pair for pair in reads if pair[1] in reached)
                    return Compared(value.detach().reshape(rows), self._takes_sigmoid(place), result, binder)
            reached.add(place)
        return Compared()

    @property
    def is_learnt(self) -> bool:
        """Whether anything that is learnt leads there."""
        inside = self.inside(self.place)
        return any(is_learnt(self.live.namespace.get(name)) for at in inside for name, _ in self.lines.reads(at))

    def learner(self) -> "DataFlow | None":
        """Of data: what leads to the first statement that computes with it and with what is learnt."""
        reached = {self.place}
        for place in range(self.place + 1, len(self.lines.items)):
            if not reached.isdisjoint(self.lines.leads_on(place)):
                if any(is_learnt(self.live.namespace.get(name)) for name, _ in self.lines.reads(place)):
                    return DataFlow(self.live, self.lines, place)
                reached.add(place)
        return None

    def is_data(self, at: int) -> bool:
        """Whether nothing that is learnt leads there, nor anything that cannot be computed again."""
        item = self.lines.items[at]
        if self.is_given(at):
            return at in self._whole or all(
                self.lines.last.get(name) == at and name in self.live.namespace
                for name in (item.targets if isinstance(item, Head) else item.statement.names)
            )
        if isinstance(item, Head) or item.statement.writes or item.statement.operator == CODE:
            return False
        reads = list(self.lines.reads(at))
        return all(self.is_data(one) and not is_learnt(self.live.namespace.get(name)) for name, one in reads)

    def _takes_sigmoid(self, place: int) -> bool:
        item = self.lines.items[place]
        assert isinstance(item, Step)
        called = [self.live.namespace.get(name) for name in item.source.operands]
        return "with_logits" in item.statement.text or any(isinstance(one, nn.BCEWithLogitsLoss) for one in called)

    def stands(self, name: str, at: int) -> bool:
        """Whether a value that is no function of the inputs is there under its name."""
        is_last = self.lines.last.get(name) == at and name in self.live.namespace
        return is_last and self.is_data(at) and not self.is_of_whole(at)

    def modules(self) -> tuple[nn.Module, ...]:
        """All that are set to evaluation while something is computed for a chart."""
        found = dict.fromkeys(value for value in self.live.namespace.values() if isinstance(value, nn.Module))
        return tuple(found)


def flows_to(live: Live, lines: ProgramLines, node: ItemId, most: int = MOST_ROWS) -> Iterator[DataFlow]:
    """What leads to what a node gives, or to where the module that it makes is called, for so many rows of the data.

    Raises:
        CannotDraw: there is none; the message is the reason.
    """
    place = lines.place_of(node)
    if place == NOWHERE:
        raise CannotDraw(IN_GROUP)
    step = lines.items[place]
    if not isinstance(step, Step) or not step.statement.names:
        raise CannotDraw(NOTHING)
    if not isinstance(live.namespace.get(step.statement.names[0]), nn.Module):
        yield DataFlow(live, lines, place, most)
        return
    for at in range(place + 1, len(lines.items)):
        called = lines.items[at]
        is_call = isinstance(called, Step) and called.statement.operator == CALL
        if is_call and dict(lines.reads(at)).get(step.statement.names[0]) == place:
            yield DataFlow(live, lines, at, most)


def refuse_effects(item: Step) -> None:
    """What is computed for a chart must leave everything as it is.

    Raises:
        CannotDraw: it would not.
    """
    if item.statement.writes or item.statement.operator == CODE:
        raise CannotDraw(EFFECTS)


def is_learnt(value: object) -> bool:
    """Whether it is a module, or requires a gradient, or holds such."""
    several = value[:MOST_LEAVES] if isinstance(value, list | tuple) else (value,)
    return any(isinstance(one, nn.Module) or (isinstance(one, Tensor) and one.requires_grad) for one in several)
