"""What the tour asks a person to do, where, and how it is seen to be done."""

from collections.abc import Callable
from typing import Final, NamedTuple

from gradstudio.graph import recipes
from gradstudio.graph.model import Place
from gradstudio.ui.state.session import Session

TENSOR: Final = "torch.tensor"
SQUARE: Final = "torch.square"
BACKWARD: Final = "torch.Tensor.backward"
"""F6 appends it with its wire; that wire leads to nothing new."""
BESIDE_PX: Final = 280.0
"""From a card to the one that follows it."""


class TourStep(NamedTuple):
    """One card of the tour.

    Attributes:
        place: id of a dock or a command, or "canvas": what the card points at.
        done: whether a document shows that it is done; None: a person says so.
        make: does it for a person who skips it; what comes later needs it.
    """

    title: str
    words: str
    place: str
    done: Callable[[Session], bool] | None = None
    make: Callable[[Session], None] | None = None


def _has_tensor(session: Session) -> bool:
    return any(node.operator == TENSOR for node in session.graph_store.graph.nodes.values())


def _requires_grad(session: Session) -> bool:
    nodes = session.graph_store.graph.nodes.values()
    asked = (node.literals for node in nodes if node.operator == TENSOR)
    return any(text.get("requires_grad") == "True" and _is_number(text.get("data", "")) for text in asked)


def _is_number(text: str) -> bool:
    """Backward begins at one number: the tensor is not to hold several."""
    return bool(text) and not text.startswith(("[", "("))


def _is_wired(session: Session) -> bool:
    graph = session.graph_store.graph
    targets = (graph.nodes.get(wire.target) for wire in graph.wires.values())
    return any(target is None or target.operator != BACKWARD for target in targets)


def _ran(session: Session) -> bool:
    return session.run.state.outcome == "done" and session.run.state.at_end


def _has_gradient(session: Session) -> bool:
    nodes = session.graph_store.graph.nodes.values()
    rows = (session.results.grad(node.id) for node in nodes if node.operator == TENSOR)
    return any(row is not None and row.grad is not None for row in rows)


def _looks_back(session: Session) -> bool:
    return session.results.looking_back


def _make_tensor(session: Session) -> None:
    edits, _item = recipes.add_operator(session.graph_store.graph, TENSOR, 0.0, 0.0)
    session.graph_store.submit(edits, "Add tensor")


def _ask_for_gradient(session: Session) -> None:
    store = session.graph_store
    for item in [node.id for node in store.graph.nodes.values() if node.operator == TENSOR][:1]:
        for path, text in (("data", "3.0"), ("requires_grad", "True")):
            store.attempt(recipes.set_literal, f"Set {path}", item, path, text)


def _wire(session: Session) -> None:
    store = session.graph_store
    for source in [node.id for node in store.graph.nodes.values() if node.operator == TENSOR][:1]:
        place = store.graph.places.get(source, Place(0.0, 0.0))
        edits, item = recipes.add_operator(store.graph, SQUARE, place.x + BESIDE_PX, place.y)
        store.submit(edits, "Add square")
        store.attempt(recipes.connect, "Wire", source, 0, item, "input")


STEPS: Final = (
    TourStep(
        "Add a tensor",
        "Double-click the canvas (or press Tab over it), type <b>tensor</b> and press Enter. "
        "If it hangs at the cursor, click where it shall stand.",
        "canvas",
        _has_tensor,
        _make_tensor,
    ),
    TourStep(
        "Ask for its gradient",
        "On the card, type <b>3.0</b> into <b>data</b>, and switch <b>requires_grad</b> on.",
        "canvas",
        _requires_grad,
        _ask_for_gradient,
    ),
    TourStep(
        "Wire it",
        "Drag from the dot on the card's right side, and let go on empty canvas. Type <b>square</b>, press Enter: "
        "the new card is wired.",
        "canvas",
        _is_wired,
        _wire,
    ),
    TourStep("Run it", "Press <b>Run</b>, or F5. PyTorch executes what you drew.", "run.run", _ran),
    TourStep(
        "Read a value",
        "The result stands on each card. Click a card: the Inspector shows its numbers, its shape and what made it.",
        "inspector",
    ),
    TourStep(
        "Let gradients flow",
        "Press <b>Backward</b>, or F6. The gradient of your tensor stands on its card: 2 · 3 = 6.",
        "run.backward",
        _has_gradient,
    ),
    TourStep(
        "Step back in time",
        "Press <b>Step back</b>, or Shift+F10: you see the run as it was one step earlier. Esc on the canvas "
        "leads back to now.",
        "run.step_back",
        _looks_back,
    ),
    TourStep(
        "See the code",
        "This is your canvas as Python, line by line. Type in it, and the canvas follows. Examples with lessons "
        "are under Help ▸ Welcome.",
        "code",
    ),
)
