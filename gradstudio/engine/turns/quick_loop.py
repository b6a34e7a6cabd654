"""A loop whose turns run without a record: its text as one code object, as a plain run executes it.

The code is a `for` over what is left of the loop's own iterator. A look at the Stop flag is woven in before each
statement, a note around each backward, and one behind each turn, which says whether the loop is to be left there:
then the next turn can be recorded as if all had been. Of loops inside, it is noted when they begin, and each of their
turns. Where code ends a turn (`break`, `continue`, the condition of a `while`), the note stands before it.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from itertools import chain
from types import CodeType
from typing import Any, NamedTuple

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.code.meeting import meeting
from gradstudio.engine.errors import Stopped
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, heads
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.turns.shared_stop import shared_stop
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.loop_exits import TURN_ENDS, ways_out

_WORDS = ("turns", "at", "turned", "left", "reaching", "reached", "entered", "passed")
TURNS, AT, TURNED, LEFT, REACHING, REACHED, ENTERED, PASSED = (f"__gradstudio_{word}__" for word in _WORDS)
"""Names in the program's namespace while turns run; no program can spell them."""
Path = tuple[int, ...]
"""Indices of a statement in a loop's body, and in the blocks within, outermost first."""
_AROUND = (ast.With, ast.If)
_LOOPS = (ast.For, ast.While)
_NESTED = (*_AROUND, *_LOOPS)


class QuickLoop(NamedTuple):
    """A loop ready to run without a record.

    Attributes:
        places: of each look at the Stop flag, where it stands, and whether an inner loop begins there.
        inner: the loops inside, each with the loops that it stands in there, outermost first.
    """

    code: CodeType
    places: tuple[tuple[Path, bool], ...]
    inner: tuple[tuple[Head, tuple[int, ...]], ...]

    @property
    def nested(self) -> bool:
        """Whether the body holds a loop."""
        return bool(self.inner)


class Notes(NamedTuple):
    """Who is told of turns.

    Attributes:
        turned: a turn of the loop is over; says whether to leave it there.
        entered: the inner loop of that number begins.
        passed: a turn of it is over.
        reaching: a backward is about to begin.
    """

    turned: Callable[[], bool]
    entered: Callable[[int], None]
    passed: Callable[[int], None]
    reaching: Callable[[], None]


class TurnsEnd(NamedTuple):
    """How turns without a record ended.

    Attributes:
        turns: so many have run to their end.
        backwards: so many backwards have.
        place: in the middle of another turn, before this statement; None between two turns.
        error: what the statement there raised, or what the loop did for its next element.
        inner: it was in an inner loop: what has run of that is not known.
        left: code has ended the last turn there; () when that ran to its end.
        is_goal: the run was to get here.
    """

    turns: int
    backwards: int
    place: Path | None = None
    error: Exception | None = None
    inner: bool = False
    left: Path = ()
    is_goal: bool = False


def quick_loop(text: str, head: Head) -> QuickLoop | None:
    """The loop of a program's text that stands at a block's line, compiled; None when the text has none there."""
    tree = ast.parse(text, FILENAME)
    found = [one for one in ast.walk(tree) if isinstance(one, _LOOPS) and one.lineno == head.block.line]
    if len(found) != 1 or found[0].orelse:
        return None
    weaver = _Weaver(head.body)
    loop = access.guarded(ast.Module([_without_head(found[0])], [])).body[0]
    if not isinstance(loop, ast.For | ast.While):
        return None
    leave = ast.If(ast.Call(ast.Name(TURNED, ast.Load()), [], []), [ast.Break()], [])
    over, ended = woven_call(LEFT, loop, 1), woven_call(LEFT, loop, 0)
    body = weaver.weave(_with_notes(loop.body, [over, leave, ast.Break()], [ended, leave, ast.Continue()]))
    target = loop.target if isinstance(loop, ast.For) else ast.Name(TURNS, ast.Store())
    turns = ast.copy_location(ast.Name(TURNS, ast.Load()), loop)
    made = ast.copy_location(ast.For(target, turns, [*body, ast.copy_location(leave, loop)], []), loop)
    ast.fix_missing_locations(made)
    return QuickLoop(access.compiled(ast.Module([made], [])), tuple(weaver.places), tuple(weaver.inner))


def _without_head(loop: ast.For | ast.While) -> ast.For | ast.While:
    """A loop whose condition is a statement of its body."""
    if isinstance(loop, ast.For) or isinstance(loop.test, ast.Constant):
        return loop
    ends = ast.If(ast.UnaryOp(ast.Not(), loop.test), [ast.Break()], [])
    for part in (ends, ends.test, *ends.body):
        ast.copy_location(part, loop.test)
    return ast.copy_location(ast.While(ast.Constant(True), [ends, *loop.body], []), loop)


def _with_notes(body: list[ast.stmt], at_break: list[ast.stmt], at_continue: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a loop with others in place of what ends a turn of it."""
    ends: set[ast.AST] = {one for statement in body for one in ways_out(statement) if isinstance(one, TURN_ENDS)}
    if not ends:
        return body
    noted: ast.Module = _Noted(ends, at_break, at_continue).visit(ast.Module([*body], []))
    return noted.body


class _Noted(ast.NodeTransformer):
    def __init__(self, ends: set[ast.AST], at_break: list[ast.stmt], at_continue: list[ast.stmt]) -> None:
        self._ends, self._at_break, self._at_continue = ends, at_break, at_continue

    def visit_Break(self, node: ast.Break) -> Any:
        return self._instead(node, self._at_break)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return self._instead(node, self._at_continue)

    def _instead(self, node: ast.stmt, others: list[ast.stmt]) -> Any:
        if node not in self._ends:
            return node
        made = copy.deepcopy(others)
        for part in (part for one in made for part in ast.walk(one)):
            ast.copy_location(part, node)
        return made


def run_turns(
    loop: QuickLoop,
    frame: Frame,
    namespace: dict[str, Any],
    notes: Notes,
    stopped: Callable[[], bool],
) -> TurnsEnd:
    """Run turns behind the one that the frame stands at the end of, until `notes` say to leave, or there are none.

    The frame stands at the end of the last turn that was run, or, when it was broken off, in the middle.
    """
    place, turns, backwards = -1, 0, 0
    left, leaves, is_over = -1, -1, False

    def at(number: int) -> None:
        nonlocal place
        place = number
        if stopped():
            raise Stopped

    def note_left(ends_loop: int) -> None:
        nonlocal leaves, is_over
        leaves, is_over = place, bool(ends_loop)

    def note_turn() -> bool:
        nonlocal place, turns, left, leaves
        left, leaves = leaves, -1
        turns += 1  # first: another thread that looks finds no place that was passed
        place = -1
        return notes.turned() or stopped()

    def note_backward() -> None:
        nonlocal backwards
        backwards += 1

    woven = {TURNS: _left_of(frame), AT: at, TURNED: note_turn, REACHED: note_backward}
    woven |= {LEFT: note_left, ENTERED: notes.entered, PASSED: notes.passed, REACHING: notes.reaching}
    namespace.update(woven)
    error: Exception | None = None
    shared_stop.quick = lambda: (turns, loop.places[place][0] if place >= 0 else None)
    try:
        access.execute(loop.code, namespace)
    except Stopped:
        pass
    except Exception as raised:  # noqa: BLE001 - the step boundary, for turns of a loop
        error = raised
    finally:
        shared_stop.quick = None
        for name in woven:
            del namespace[name]
    meeting.has_met()  # ranks may have met in them: no row says when
    frame.turn += turns
    if is_over:
        frame.end_turns()
    if place < 0:
        return TurnsEnd(turns, backwards, error=error, left=loop.places[left][0] if left >= 0 else ())
    frame.turn += 1
    path, inner = loop.places[place]
    return TurnsEnd(turns, backwards, path, error, inner)


def ids_from(frame: Frame, place: Path) -> frozenset[ItemId]:
    """The statements of a loop's body that stand at a place or behind it."""
    return _ids_from(frame, place, with_place=True)


def ids_behind(frame: Frame, place: Path) -> frozenset[ItemId]:
    """The statements of a loop's body that stand behind a place."""
    return _ids_from(frame, place, with_place=False)


def _ids_from(frame: Frame, place: Path, *, with_place: bool) -> frozenset[ItemId]:
    items, found = frame.items, set[ItemId]()
    for index in place:
        found.update(step.id for step in flat_steps(items[index + 1 :]))
        item = items[index]
        if isinstance(item, Step):
            found.update([item.id] if with_place else [])
            break
        items = item.body
    else:
        found.update(step.id for step in flat_steps(items))
    return frozenset(found)


def _left_of(frame: Frame) -> Iterator[object]:
    """What the loop has not come to yet."""
    assert frame.iterator is not None
    ahead = frame.take_ahead()
    return chain(ahead, frame.iterator) if ahead else frame.iterator


class _Weaver:
    """Puts looks and notes between the statements of a loop's body.

    Attributes:
        places: where each look stands, and whether an inner loop begins there.
        inner: the loops inside, and the numbers of those around each.
    """

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.places: list[tuple[Path, bool]] = []
        self.inner: list[tuple[Head, tuple[int, ...]]] = []
        self._newest: Path = ()
        self._heads = {head.block.line: head for head in heads(items) if head.block.kind == "for"}
        self._lines = list(_lines_of(items, ()))
        self._backward_lines = set(_backward_lines(items))

    def weave(self, statements: list[ast.stmt], looks: bool = True, around: tuple[int, ...] = ()) -> list[ast.stmt]:
        woven: list[ast.stmt] = []
        for statement in statements:
            path = self._path_of(statement) if looks else ()
            if path and path != self._newest:  # of several statements of code the first alone is one of the program
                self._newest = path
                self.places.append((path, isinstance(statement, _LOOPS)))
                woven.append(woven_call(AT, statement, len(self.places) - 1))
            if isinstance(statement, _LOOPS) and (inner := self._heads.get(statement.lineno)) is not None:
                woven += self._weave_inner(statement, inner, around)
                continue
            if isinstance(statement, _NESTED):
                statement.body = self.weave(statement.body, looks and isinstance(statement, _AROUND), around)
                woven.append(statement)
            elif self._backward_lines.isdisjoint(range(statement.lineno, (statement.end_lineno or 0) + 1)):
                woven.append(statement)
            else:
                woven += [woven_call(REACHING, statement), statement, woven_call(REACHED, statement)]
        return woven

    def _weave_inner(self, loop: ast.For | ast.While, head: Head, around: tuple[int, ...]) -> list[ast.stmt]:
        number = len(self.inner)
        self.inner.append((head, around))
        entered, loop = woven_call(ENTERED, loop, number), _without_head(loop)
        passed = woven_call(PASSED, loop, number)
        body = _with_notes(loop.body, [passed, ast.Break()], [passed, ast.Continue()])
        loop.body = [*self.weave(body, looks=False, around=(*around, number)), passed]
        return [entered, loop]

    def _path_of(self, statement: ast.stmt) -> Path:
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if isinstance(statement, _NESTED):
            last = first
        return next((path for line, path in self._lines if first <= line <= last), ())


def _lines_of(items: tuple[Item, ...], above: Path) -> Iterator[tuple[int, Path]]:
    """The line of each statement outside inner loops, and where it stands."""
    for index, item in enumerate(items):
        path = (*above, index)
        if isinstance(item, Step):
            yield item.statement.line, path
            continue
        if item.block.kind != "group":
            yield item.block.line, path
        if item.block.kind != "for":
            yield from _lines_of(item.body, path)


def _backward_lines(items: tuple[Item, ...]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Head):
            yield from _backward_lines(item.body)
        elif item.statement.backward:
            yield item.statement.line


def woven_call(name: str, where: ast.stmt, *arguments: int) -> ast.stmt:
    """A call with numbers that stands in the line of a statement."""
    given: list[ast.expr] = [ast.Constant(one) for one in arguments]
    return ast.copy_location(ast.Expr(ast.Call(ast.Name(name, ast.Load()), given, [])), where)
