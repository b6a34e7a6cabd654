"""Writes `examples/`: the documents that the program ships, drawn by its own Tidy.

Run ``python tools/make_examples.py`` after a change here; a test says when it was forgotten.
"""

import csv
import gzip
import io
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path

ROOT_FOLDER = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT_FOLDER))

import msgspec  # noqa: E402

from gradstudio import paths  # noqa: E402
from gradstudio.document import file  # noqa: E402
from gradstudio.document.stored_tensors import stored_tensor  # noqa: E402
from gradstudio.graph.model import (  # noqa: E402
    DOCUMENT_DEVICE,
    ROOT,
    Block,
    BodyId,
    Graph,
    ItemId,
    Node,
    Place,
    StoredTensor,
    Wire,
)
from gradstudio.layout.card_sizes import card_size, note_size  # noqa: E402
from gradstudio.layout.tidy import layout  # noqa: E402
from gradstudio.operators.catalogue.loader import load  # noqa: E402
from gradstudio.scene.card.section_heights import CHART  # noqa: E402
from tools import confusing_examples, learning_examples  # noqa: E402
from tools.example_places import BY_HAND, CHARTS, NOTE_PLACES, VALUES  # noqa: E402

PICTURES = 200
DIGITS_SOURCE = (
    "The first 200 pictures of Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), "
    "UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0"
)
NOTE_WIDTH = 720.0
NOTES = {
    "01_square_polynomial": """
A derivative, by hand and by torch: y = x² + 2x + 1, so dy/dx = 2x + 2, which is 8 at x = 3.
Press Run, then look at the gradient of x.""",
    "02_two_paths": """
x reaches the loss twice: through z, and directly.
What both ways bring back is added. Compare the gradient of x: 48 through z and 16 directly, so 64.""",
    "03_linear_regression": """
One step of linear regression.
The error of the prediction gives w and b their gradients; they move a little against them.
w starts at [0.5, 1.5] and b at 0.1: each loses a tenth of its gradient.""",
    "04_matrix_times_vector": """
A layer without a name: W @ x + b.
The gradient of W is an outer product: each of its rows is a multiple of x.""",
    "05_detach_and_no_grad": """
Two ways to keep a gradient from flowing back: detach and no_grad.
frozen and scale count as constants, so the gradient of x is 2x · 4 + 6 = 22, not 44.
Look at the greyed gradients: each says where it is cut.""",
    "06_broadcast_bias": """
The bias has 3 numbers, the batch has 2 rows: torch uses the bias for each row.
On the way back its gradient is the sum over the rows: compare the shapes.""",
    "07_digits_perceptron": """
A two-layer perceptron reads 200 handwritten digits, 8 × 8 grey values each, scaled to 0 … 1.
Its weights start small and random: untrained it only guesses, see accuracy.
Pixels at the rim are always 0, so their rows in the gradient of W1 stay 0.
Data: Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, UCI, CC BY 4.0.""",
    "15_train_and_eval": """
A small network with batch norm and dropout: both do something else in training than in evaluation.
dropout trains: it sets about half of hidden to 0 and doubles the rest.
quiet was switched by eval(): it lets all through. lost is the difference.
Click the word "train" or "eval" on a card to switch it, then run again.""",
    "08_attention_head": """
One head of attention over 4 tokens of 8 numbers: softmax(Q Kᵀ / √d) V.
Each row of attention adds up to 1: it says how much one token looks at each of the others.""",
}


class Sketch:
    """A program in the making: one call a statement, in program order."""

    def __init__(self) -> None:
        """An empty program."""
        self.graph = Graph()
        self.body = ROOT

    def node(
        self, key: str, /, *names: str, note: str = "", nested: bool = False, blank: bool = False, **inputs: str
    ) -> str:
        """Append a node; an input that names an earlier node is a wire, any other is a literal.

        An input given as ``size_0`` is the element ``size.0``. Without a name the node is known by
        its operator's last word.
        """
        operator = load()[key]
        item = ItemId(self._free(names[0] if names else key.rsplit(".", 1)[-1].strip("_")))
        literals = {"device": DOCUMENT_DEVICE} if operator.creates and operator.parameter("device") else {}
        lengths: dict[str, int] = {}
        wires = []
        for name, value in inputs.items():
            path = name.replace("_0", ".0").replace("_1", ".1") if name[-2:] in ("_0", "_1") else name
            if "." in path:
                base = path.split(".")[0]
                lengths[base] = lengths.get(base, 0) + 1
            if value in self.graph:
                wires.append(Wire(ItemId(value), 0, item, path))
            else:
                literals[path] = value
        node = Node(id=item, operator=key, names=names, literals=literals, lengths=lengths, nested=nested, note=note)
        self._put(msgspec.structs.replace(node, blank_before=blank))
        for wire in wires:
            self._wire(wire)
        return item

    def part(self, key: str, /, **inputs: str) -> str:
        """Append a node that is printed inside its user."""
        return self.node(key, nested=True, **inputs)

    def stored(self, name: str, tensor: StoredTensor, *, note: str = "") -> str:
        """Append a statement that loads a stored tensor."""
        self.graph.tensors[tensor.digest] = tensor
        return self.node("python.stored", name, note=note, digest=f'"{tensor.digest}"')

    def no_grad(self, *, note: str = "") -> None:
        """What follows stands in a `no_grad` block."""
        self._open(Block(id=ItemId(self._free("no_grad")), kind="no_grad", note=note))

    def repeat(self, count: int, variable: str) -> None:
        """What follows stands in a `for` block over range(count)."""
        literals, lengths = {"range.0": str(count)}, {"range": 1}
        self._open(
            Block(id=ItemId(self._free("for")), kind="for", variable=variable, literals=literals, lengths=lengths)
        )

    def end(self) -> None:
        """The block ends."""
        self.body = ROOT

    def _open(self, block: Block) -> None:
        self.graph.blocks[block.id] = block
        self.graph.bodies[BodyId(block.id)] = ()
        self._append(block.id)
        self.body = BodyId(block.id)

    def _put(self, node: Node) -> None:
        self.graph.nodes[node.id] = node
        self._append(node.id)

    def _append(self, item: ItemId) -> None:
        self.graph.parents[item] = self.body
        self.graph.bodies[self.body] = (*self.graph.bodies[self.body], item)

    def _wire(self, wire: Wire) -> None:
        self.graph.wires[wire.target, wire.port] = wire
        self.graph.outgoing.setdefault(wire.source, {})[wire] = None
        self.graph.incoming.setdefault(wire.target, {})[wire] = None

    def _free(self, word: str) -> str:
        if word not in self.graph:
            return word
        return next(f"{word}_{number}" for number in range(2, 99) if f"{word}_{number}" not in self.graph)


def square_polynomial(s: Sketch) -> None:
    """The polynomial y = x² + 2x + 1 at 3."""
    x = s.node("torch.tensor", "x", data="3.0", requires_grad="True")
    square = s.part("operator.pow", a=x, b="2")
    double = s.part("operator.mul", a="2", b=x)
    total = s.part("operator.add", a=square, b=double)
    y = s.node("operator.add", "y", a=total, b="1")
    s.node("torch.Tensor.backward", self=y)


def two_paths(s: Sketch) -> None:
    """The walk-through: one variable reaches the loss on two ways."""
    x = s.node("torch.tensor", "x", data="2.0", requires_grad="True")
    y = s.node("torch.tensor", "y", data="3.0", requires_grad="True")
    z = s.node("operator.mul", "z", a=x, b=y)
    w = s.node("operator.add", "w", a=z, b=x)
    loss = s.node("operator.pow", "loss", a=w, b="2")
    s.node("torch.Tensor.backward", self=loss)


def linear_regression(s: Sketch) -> None:
    """One step of gradient descent."""
    x = s.node("torch.tensor", "x", data="[[1.0, 2.0]]")
    w = s.node("torch.tensor", "w", data="[[0.5], [1.5]]", requires_grad="True")
    b = s.node("torch.tensor", "b", data="0.1", requires_grad="True")
    target = s.node("torch.tensor", "target", data="[[5.0]]")
    product = s.part("operator.matmul", a=x, b=w)
    prediction = s.node("operator.add", "prediction", blank=True, a=product, b=b)
    loss = s.node("torch.nn.functional.mse_loss", "loss", input=prediction, target=target)
    s.node("torch.Tensor.backward", self=loss)
    s.no_grad(note="The step itself is not to be differentiated.")
    s.node("operator.isub", a=w, b=s.part("operator.mul", a="0.1", b=s.part("torch.Tensor.grad", self=w)))
    s.node("operator.isub", a=b, b=s.part("operator.mul", a="0.1", b=s.part("torch.Tensor.grad", self=b)))
    s.end()


def matrix_times_vector(s: Sketch) -> None:
    """W @ x + b, squared and summed."""
    weight = s.node("torch.tensor", "W", data="[[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]", requires_grad="True")
    x = s.node("torch.tensor", "x", data="[2.0, 1.0, -1.0]", requires_grad="True")
    b = s.node("torch.tensor", "b", data="[0.5, -0.5]", requires_grad="True")
    y = s.node("operator.add", "y", a=s.part("operator.matmul", a=weight, b=x), b=b)
    loss = s.node("torch.Tensor.sum", "loss", self=s.part("torch.Tensor.pow", self=y, exponent="2"))
    s.node("torch.Tensor.backward", self=loss)


def detach_and_no_grad(s: Sketch) -> None:
    """Two ways to cut the graph."""
    x = s.node("torch.tensor", "x", data="2.0", requires_grad="True")
    square = s.node("operator.pow", "square", a=x, b="2")
    frozen = s.node("torch.Tensor.detach", "frozen", self=square)
    s.no_grad()
    scale = s.node("operator.mul", "scale", a=x, b="3")
    s.end()
    first = s.part("operator.mul", a=square, b=frozen)
    y = s.node("operator.add", "y", a=first, b=s.part("operator.mul", a=scale, b=x))
    s.node("torch.Tensor.backward", self=y)


def broadcast_bias(s: Sketch) -> None:
    """One bias for a batch of two."""
    x = s.node("torch.tensor", "x", data="[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", requires_grad="True")
    bias = s.node("torch.tensor", "bias", data="[0.5, -1.0, 2.0]", requires_grad="True")
    y = s.node("operator.add", "y", a=x, b=bias)
    loss = s.node("torch.Tensor.sum", "loss", self=s.part("operator.pow", a=y, b="2"))
    s.node("torch.Tensor.backward", self=loss)


def digits_perceptron(s: Sketch) -> None:
    """Two layers on real pictures."""
    pictures, digits = read_digits(PICTURES)
    images = stored_tensor(bytes(pictures), "uint8", (PICTURES, 64), DIGITS_SOURCE)
    labels = stored_tensor(struct.pack(f"<{PICTURES}q", *digits), "int64", (PICTURES,), DIGITS_SOURCE)
    images_item = s.stored("images", images)
    labels_item = s.stored("labels", labels)
    x = s.node("operator.truediv", "X", a=s.part("torch.Tensor.to", self=images_item, device=DOCUMENT_DEVICE), b="16")
    target = s.node("torch.Tensor.to", "target", self=labels_item, device=DOCUMENT_DEVICE)
    w1 = s.node("torch.normal", "W1", blank=True, mean="0.0", std="0.1", size="(64, 32)", requires_grad="True")
    b1 = s.node("torch.zeros", "b1", size="(32,)", requires_grad="True")
    w2 = s.node("torch.normal", "W2", mean="0.0", std="0.1", size="(32, 10)", requires_grad="True")
    b2 = s.node("torch.zeros", "b2", size="(10,)", requires_grad="True")
    first = s.part("operator.add", a=s.part("operator.matmul", a=x, b=w1), b=b1)
    hidden = s.node("torch.relu", "hidden", input=first)
    logits = s.node("operator.add", "logits", a=s.part("operator.matmul", a=hidden, b=w2), b=b2)
    loss = s.node("torch.nn.functional.cross_entropy", "loss", input=logits, target=target)
    guess = s.part("torch.Tensor.argmax", self=logits, dim="1")
    right = s.part("torch.Tensor.float", self=s.part("operator.eq", a=guess, b=target))
    s.node("torch.Tensor.mean", "accuracy", self=right)
    s.node("torch.Tensor.backward", self=loss)


def attention_head(s: Sketch) -> None:
    """Softmax of Q Kᵀ over the root of d, times V."""
    tokens = s.node("operator.mul", "tokens", a="0.4", b=s.part("torch.randn", size="(4, 8)"))
    weights = {name: s.node("torch.randn", f"W_{name}", size="(8, 8)", requires_grad="True") for name in "qkv"}
    query, key, value = (
        s.node("operator.matmul", name.upper(), blank=name == "q", a=tokens, b=weight)
        for name, weight in weights.items()
    )
    d = s.node("python.literal", "d", value="8")
    products = s.part("operator.matmul", a=query, b=s.part("torch.Tensor.T", self=key))
    scores = s.node("operator.truediv", "scores", a=products, b=s.part("operator.pow", a=d, b="0.5"))
    attention = s.node("torch.softmax", "attention", input=scores, dim="-1")
    output = s.node("operator.matmul", "output", a=attention, b=value)
    loss = s.node("torch.Tensor.mean", "loss", self=s.part("operator.pow", a=output, b="2"))
    s.node("torch.Tensor.backward", self=loss)


def train_and_eval(s: Sketch) -> None:
    """Two layers with batch norm and dropout, and a second dropout that is switched to evaluation."""
    x = s.node("torch.randn", "x", size="(6, 4)")
    first = s.node("torch.nn.Linear", "fc", blank=True, in_features="4", out_features="8")
    wide = s.node("python.call", "wide", module=first, inputs_0=x)
    norm = s.node("torch.nn.BatchNorm1d", "norm", num_features="8")
    even = s.node("python.call", "even", module=norm, inputs_0=wide)
    relu = s.node("torch.nn.ReLU", "relu")
    hidden = s.node("python.call", "hidden", module=relu, inputs_0=even)
    drops = s.node("torch.nn.Dropout", "dropout", blank=True, p="0.5")
    noisy = s.node("python.call", "noisy", module=drops, inputs_0=hidden)
    keeps = s.node("torch.nn.Dropout", "quiet", p="0.5")
    s.node("torch.nn.Module.eval", self=keeps)
    whole = s.node("python.call", "whole", module=keeps, inputs_0=hidden)
    s.node("operator.sub", "lost", a=whole, b=noisy)
    head = s.node("torch.nn.Linear", "head", blank=True, in_features="8", out_features="1")
    y = s.node("python.call", "y", module=head, inputs_0=noisy)
    loss = s.node("torch.Tensor.mean", "loss", self=s.part("operator.pow", a=y, b="2"))
    s.node("torch.Tensor.backward", self=loss)


CHART_ROOM = CHART + 6.0
"""What a chart adds to a card."""
EXAMPLES: dict[str, Callable[[Sketch], None]] = {
    "01_square_polynomial": square_polynomial,
    "02_two_paths": two_paths,
    "03_linear_regression": linear_regression,
    "04_matrix_times_vector": matrix_times_vector,
    "05_detach_and_no_grad": detach_and_no_grad,
    "06_broadcast_bias": broadcast_bias,
    "07_digits_perceptron": digits_perceptron,
    "08_attention_head": attention_head,
    **confusing_examples.EXAMPLES,
    "15_train_and_eval": train_and_eval,
}


def read_digits(count: int) -> tuple[list[int], list[int]]:
    """The first pictures of the shipped data, 64 values each, and the digits they show."""
    text = gzip.decompress((paths.resources() / "data" / "digits.csv.gz").read_bytes()).decode()
    rows = [[int(float(value)) for value in row] for row in csv.reader(io.StringIO(text))][:count]
    return [value for row in rows for value in row[:64]], [row[64] for row in rows]


def graph_and_note(name: str) -> tuple[Graph, str]:
    """The example's graph, without places and without its note; and the note, which stands at the first card."""
    if name in learning_examples.TEXTS:
        return learning_examples.read(name)
    sketch = Sketch()
    EXAMPLES[name](sketch)
    return sketch.graph, {**NOTES, **confusing_examples.NOTES}[name].strip()


def make(name: str) -> Graph:
    """The example's graph, with places: tidied, and its note above all."""
    graph, note = graph_and_note(name)
    sizes = {ItemId(item): card_size(graph, ItemId(item), values) for item, values in VALUES.get(name, {}).items()}
    charted = CHARTS.get(name, {})
    charts = {
        node.id: charted[node.names[0]] for node in graph.nodes.values() if node.names[:1] and node.names[0] in charted
    }
    for item in charts:
        width, height = card_size(graph, item)
        sizes[item] = (width, height + CHART_ROOM)
    graph.places = {key: _on_grid(x, y) for key, (x, y) in layout(graph, sizes).items()}
    graph.places |= {key: Place(x, y) for key, (x, y) in BY_HAND.get(name, {}).items()}
    for item, kind in charts.items():
        graph.places[item] = msgspec.structs.replace(graph.places[item], chart=kind)
    first = next(item for item in graph.bodies[ROOT] if not graph.nodes[item].nested)
    graph.nodes[first] = msgspec.structs.replace(graph.nodes[first], note=note)
    graph.places[f"note:{first}"] = _note_place(graph, first, name)
    return graph


def _note_place(graph: Graph, first: ItemId, name: str) -> Place:
    """At its own place, else above all that stands in its columns."""
    if name in NOTE_PLACES:
        x, y, width = NOTE_PLACES[name]
        return Place(x, y, width)
    graph.places[f"note:{first}"] = Place(0.0, 0.0, NOTE_WIDTH)
    _, height = note_size(graph, first)
    left = min(place.x for place in graph.places.values())
    below = [place.y for place in graph.places.values() if place.x < left + NOTE_WIDTH and place.width is None]
    return msgspec.structs.replace(_on_grid(left, min(below) - height - 32.0), width=NOTE_WIDTH)


def _on_grid(x: float, y: float) -> Place:
    return Place(round(x / 8) * 8.0, round(y / 8) * 8.0)


def main() -> None:
    """Write all examples anew."""
    folder = ROOT_FOLDER / "examples"
    for stale in folder.glob("*.tensors"):
        shutil.rmtree(stale)
    for name in (*EXAMPLES, *learning_examples.TEXTS):
        file.save(make(name), folder / f"{name}{file.SUFFIX}")
        print(f"examples/{name}{file.SUFFIX}")


if __name__ == "__main__":
    main()
