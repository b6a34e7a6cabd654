"""The debugger's part of context menus: breakpoints and watches, run to here, gradcheck, what if."""

from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.breakpoint_conditions import describe
from gradstudio.protocol.messages.debugging import Breakpoint, Condition
from gradstudio.ui.canvas.edit.canvas_debugging import BreakpointStore
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.canvas.paint.breakpoint_painter import on_node, on_wire

Row = tuple[str, Callable[[], object]] | None
"""Text and what it does; None is a line."""
NOT_FINITE = Condition("not_finite")
AT_EDGE = "A wire at the inputs or outputs of a group holds no breakpoint. Set one on the card at its other end."


def node_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """For a node: where to pause, what to note, what to try."""
    store = canvas.debugging.breakpoints
    if store is not None:
        yield "Break before\trun.breakpoint", lambda: store.toggle(item)
        yield "Break after", lambda: _add(store, node=item, place="after")
        yield "Break in backward", lambda: _add(store, node=item, phase="backward")
        yield "Break on NaN or inf", lambda: break_when_not_finite(store, item)
        yield "Watch", lambda: _add(store, node=item, place="after", stops=False)
        yield from _present(store, on_node(store, item))
        yield None
    run = canvas.debugging.runner
    if run is not None:
        yield "Run to here", lambda: run.run_to(item)
        yield "Gradcheck", lambda: run.questions.check(_checked(canvas, item))
    yield "What if…", lambda: canvas.what_if_requested.emit(item)


def wire_rows(canvas: MenuCanvas, wire: Wire) -> Iterator[Row]:
    """For a wire: when its value passes, when its gradient comes back."""
    store = canvas.debugging.breakpoints
    if store is None:
        return
    if CARDS & {wire.source, wire.target}:
        yield "Break…", lambda: canvas.refuse(AT_EDGE)
        yield None
        return
    end = {"node": wire.source, "output": wire.output, "target": wire.target, "port": wire.port, "place": "after"}
    yield "Break after this value", lambda: _add(store, **end)
    yield "Break in backward", lambda: _add(store, **end, phase="backward")
    yield "Break on NaN or inf", lambda: _add(store, **end, condition=NOT_FINITE)
    yield "Watch", lambda: _add(store, **end, stops=False)
    yield from _present(store, on_wire(store, wire))
    yield None


def break_when_not_finite(store: BreakpointStore, item: ItemId) -> None:
    """Pause where a NaN or an infinity comes out of a node, forward or backward."""
    _add(store, node=item, place="after", condition=NOT_FINITE)
    _add(store, node=item, place="after", phase="backward", condition=NOT_FINITE)


def words(each: Breakpoint) -> str:
    """A breakpoint in words: "Watch after, in backward, when …"."""
    kind = "Break" if each.stops else "Watch"
    where = "on the wire" if each.target else each.place
    way = " in backward" if each.phase == "backward" else ""
    condition = f", {describe(each.condition)}" if each.condition.kind != "always" else ""
    return f"{kind} {where}{way}{condition}"


def _present(store: BreakpointStore, found: tuple[Breakpoint, ...]) -> Iterator[Row]:
    for each in found:
        verb = "Disable" if store.enabled(each.id) else "Enable"
        yield f"{verb}: {words(each)}", partial(store.set_enabled, each.id, not store.enabled(each.id))
        yield f"Remove: {words(each)}", partial(store.remove, each.id)


def _add(store: BreakpointStore, **fields: object) -> None:
    store.add(Breakpoint(id=store.fresh_id(), **fields))  # type: ignore[arg-type]  # fields by name, from above


def _checked(canvas: MenuCanvas, item: ItemId) -> tuple[ItemId, ...]:
    """The selected nodes when the clicked one is among them, else that one."""
    nodes = canvas.scene.graph.nodes
    chosen = tuple(each for each in canvas.scene.stack.ids if each in canvas.attention.selection and each in nodes)
    return chosen if item in chosen else (item,)
