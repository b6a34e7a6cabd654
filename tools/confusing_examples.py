"""Six examples of what confuses people about autograd, for the debugger: each is to be stepped, not only run.

`tools.make_examples` writes them with the others.
"""

from collections.abc import Callable
from typing import Protocol

NOTES = {
    "09_doubled_gradient": """
Why did the gradient double? backward adds to .grad, and nothing here sets it back.
Run, then look at the gradient of x: a sum of two parts. Step (F10) shows each being added.
Put x.grad = None into the loop, and it stays 6.""",
    "10_in_place_after_exp": """
The error of everybody's first week: Run, and torch refuses the backward.
exp needs its own result for the way back, and y += 1 has overwritten it.
Look at the problem, and take one of its fixes. With x ** 2 instead of exp it would work: pow saves x.""",
    "11_nan_from_sqrt": """
The value is fine, the gradient is NaN: step through the backward (F10) and see where it is born.
where sends 0 back into the branch that was not taken, and the slope of sqrt at 0 is infinite: 0 · inf.""",
    "12_vanishing_sigmoids": """
Eight sigmoids in a row: each multiplies the gradient by at most a quarter.
Run, choose View > Colour by > gradient RMS, then look at the Problems.""",
    "13_frozen_branch": """
Why does w2 get no gradient? It requires one, and a backward has run.
Look at what its card says, and follow the cause.""",
    "14_double_backward": """
The derivative of a derivative: y = x³, so y' = 3x² = 27 and y'' = 6x = 18 at x = 3.
create_graph records the first backward itself: step through the second one, and see nodes of order 2.""",
}
BACKWARDS = {
    "09_doubled_gradient": "y.backward()",
    "10_in_place_after_exp": "loss.backward()",
    "11_nan_from_sqrt": "loss.backward()",
    "12_vanishing_sigmoids": "h8.backward()",
    "13_frozen_branch": "loss.backward()",
    "14_double_backward": "first.backward()",
}
FAILS = frozenset({"10_in_place_after_exp"})
"""Examples whose point is torch's refusal."""


class SketchLike(Protocol):
    """What is drawn with."""

    def node(
        self, key: str, /, *names: str, note: str = "", nested: bool = False, blank: bool = False, **inputs: str
    ) -> str:
        """Append a node."""

    def part(self, key: str, /, **inputs: str) -> str:
        """Append a node that is printed inside its user."""

    def no_grad(self, *, note: str = "") -> None:
        """What follows stands in a `no_grad` block."""

    def repeat(self, count: int, variable: str) -> None:
        """What follows stands in a `for` block."""

    def end(self) -> None:
        """The block ends."""


def doubled_gradient(s: SketchLike) -> None:
    """Two backwards into one .grad."""
    x = s.node("torch.tensor", "x", data="3.0", requires_grad="True")
    s.repeat(2, "turn")
    y = s.node("operator.pow", "y", a=x, b="2")
    s.node("torch.Tensor.backward", self=y)
    s.end()


def in_place_after_exp(s: SketchLike) -> None:
    """A saved result is overwritten."""
    x = s.node("torch.tensor", "x", data="[0.0, 1.0]", requires_grad="True")
    y = s.node("torch.exp", "y", input=x)
    plus = s.node("operator.iadd", a=y, b="1")
    loss = s.node("torch.Tensor.sum", "loss", self=plus)
    s.node("torch.Tensor.backward", self=loss)


def nan_from_sqrt(s: SketchLike) -> None:
    """A NaN gradient from the branch that was not taken."""
    x = s.node("torch.tensor", "x", data="[0.0, 1.0, 4.0]", requires_grad="True")
    root = s.node("torch.sqrt", "root", input=x)
    mask = s.node("operator.gt", "mask", a=x, b="0")
    safe = s.node("torch.where", "safe", condition=mask, input=root, other="0.0")
    loss = s.node("torch.Tensor.sum", "loss", self=safe)
    s.node("torch.Tensor.backward", self=loss)


def vanishing_sigmoids(s: SketchLike) -> None:
    """A chain of sigmoids."""
    w = s.node("torch.tensor", "w", data="4.0", requires_grad="True")
    h = s.node("torch.sigmoid", "h1", input=w)
    for number in range(2, 9):
        h = s.node("torch.sigmoid", f"h{number}", input=h)
    s.node("torch.Tensor.backward", self=h)


def frozen_branch(s: SketchLike) -> None:
    """One of two parameters is used under no_grad only."""
    x = s.node("torch.tensor", "x", data="2.0")
    w1 = s.node("torch.tensor", "w1", data="1.5", requires_grad="True")
    w2 = s.node("torch.tensor", "w2", data="0.5", requires_grad="True")
    left = s.node("operator.mul", "left", blank=True, a=w1, b=x)
    s.no_grad()
    right = s.node("operator.mul", "right", a=w2, b=x)
    s.end()
    loss = s.node("operator.pow", "loss", a=s.part("operator.add", a=left, b=right), b="2")
    s.node("torch.Tensor.backward", self=loss)


def double_backward(s: SketchLike) -> None:
    """The second derivative of a cube."""
    x = s.node("torch.tensor", "x", data="3.0", requires_grad="True")
    y = s.node("operator.pow", "y", a=x, b="3")
    grads = s.node("torch.autograd.grad", "grads", outputs=y, inputs=x, create_graph="True")
    first = s.node("operator.getitem", "first", a=grads, index_0="0")
    s.node("torch.Tensor.backward", self=first)


EXAMPLES: dict[str, Callable[[SketchLike], None]] = {
    "09_doubled_gradient": doubled_gradient,
    "10_in_place_after_exp": in_place_after_exp,
    "11_nan_from_sqrt": nan_from_sqrt,
    "12_vanishing_sigmoids": vanishing_sigmoids,
    "13_frozen_branch": frozen_branch,
    "14_double_backward": double_backward,
}
