"""Terms of a loss that are made of gradients without a graph: in its value, and nothing learns of them."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

GRADIENTS = frozenset({"grad"})
DIFFERENTIATES = "torch.autograd.grad"
MEASURING = frozenset(
    "norm vector_norm getitem sub rsub pow square mean sum mul add div truediv abs sqrt view reshape flatten relu "
    "clamp".split()
)
"""What a penalty is made of: no step of a model, which would be a new input."""
FARTHEST = 40


def constant_penalty(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A penalty on gradients that `torch.autograd.grad` gave without their graph."""
    node = view.node(item)
    if node is None or node.operator != DIFFERENTIATES or node.literals.get("create_graph") == "True":
        return
    total = _term_of(view, item, lookup)
    if total is None:
        return
    yield Finding(
        "lost_term",
        "warning",
        item,
        f"torch.autograd.grad gives gradients without a graph, so the penalty made of them teaches nothing: "
        f"create_graph=True is missing, and {view.name(total)} learns of its other terms alone",
        "What is computed of such gradients is a plain number to the backward. With create_graph=True the gradient is "
        "computed by operators that a backward can go through.",
        (item, total),
    )


def _term_of(view: ProgramView, item: ItemId, lookup: Lookup) -> ItemId | None:
    """Where what is measured of the gradients is added to what learns, from which a backward begins."""
    todo, seen = [item], {item}
    while todo and len(seen) < FARTHEST:
        for user in view.followers(todo.pop(0)):
            if user in seen or view.word(user) not in MEASURING:
                continue
            seen.add(user)
            record = lookup(user, 0)
            learns = isinstance(record, TensorRecord) and record.requires_grad
            if not learns:
                todo.append(user)
            elif view.word(user) in ("add", "sub") and any(
                view.word(one) == "backward" for one in view.followers(user)
            ):
                return user
    return None
