"""The networks of the engine's figures, as programs and as PyTorch written by hand."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, Statement

PRELUDE = "import torch\nimport torch.nn.functional as F\n\ntorch.manual_seed(0)\n\n"
Network = tuple[list[tuple[str, str]], list[tuple[str, str]], Callable[..., torch.Tensor]]


def mlp() -> Network:
    """784-512-512-10 on a batch of 128: leaves, nodes, and the same by hand."""
    leaves = [
        ("X", "torch.ones((128, 784))"), ("t", "torch.arange(128) % 10"),
        ("W1", "torch.full((784, 512), 0.01, requires_grad=True)"), ("b1", "torch.zeros((512,), requires_grad=True)"),
        ("W2", "torch.full((512, 512), 0.01, requires_grad=True)"), ("b2", "torch.zeros((512,), requires_grad=True)"),
        ("W3", "torch.full((512, 10), 0.01, requires_grad=True)"), ("b3", "torch.zeros((10,), requires_grad=True)"),
    ]  # fmt: skip
    nodes = [
        ("h1", "torch.matmul(X, W1)"), ("h2", "torch.add(h1, b1)"), ("h3", "torch.relu(h2)"),
        ("h4", "torch.matmul(h3, W2)"), ("h5", "torch.add(h4, b2)"), ("h6", "torch.relu(h5)"),
        ("h7", "torch.matmul(h6, W3)"), ("h8", "torch.add(h7, b3)"), ("loss", "F.cross_entropy(h8, t)"),
    ]  # fmt: skip

    def by_hand(X: Any, t: Any, W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any) -> torch.Tensor:
        h = torch.relu(X @ W1 + b1)
        h = torch.relu(h @ W2 + b2)
        return F.cross_entropy(h @ W3 + b3, t)

    return leaves, nodes, by_hand


def block(width: int = 256, length: int = 128, batch: int = 8, heads: int = 4) -> Network:
    """One transformer block of primitives (48 nodes)."""
    sizes = {
        "g1": "",
        "c1": "",
        "Wq": "w",
        "Wk": "w",
        "Wv": "w",
        "Wo": "w",
        "g2": "",
        "c2": "",
        "W1": "4",
        "b1": "b",
        "W2": "5",
        "b2": "",
    }
    shapes = {"": (width,), "w": (width, width), "4": (width, 4 * width), "5": (4 * width, width), "b": (4 * width,)}
    leaves = [("x", f"torch.randn(({batch}, {length}, {width}), requires_grad=True)")]
    leaves += [(name, f"torch.randn({shapes[size]}, requires_grad=True)") for name, size in sizes.items()]
    first, second = _norm("A", "x", "g1", "c1"), _norm("B", "r1", "g2", "c2")
    nodes = [*first, *_attention("Ao", width, length, batch, heads), *second]
    nodes += [
        ("f1", "torch.matmul(Bo, W1)"), ("f2", "torch.add(f1, b1)"), ("f3", "F.gelu(f2)"), ("f4", "torch.matmul(f3, W2)"),  # noqa: E501
        ("f5", "torch.add(f4, b2)"), ("r2", "torch.add(r1, f5)"), ("sq", "torch.mul(r2, r2)"), ("loss", "torch.mean(sq)"),  # noqa: E501
    ]  # fmt: skip

    def by_hand(
        x: Any,
        g1: Any,
        c1: Any,
        Wq: Any,
        Wk: Any,
        Wv: Any,
        Wo: Any,
        g2: Any,
        c2: Any,
        W1: Any,
        b1: Any,
        W2: Any,
        b2: Any,
    ) -> torch.Tensor:
        def norm(x: Any, g: Any, c: Any) -> Any:
            d = x - x.mean(-1, True)
            return d * ((d * d).mean(-1, True) + 1e-5).rsqrt() * g + c

        h = norm(x, g1, c1)
        q, k, v = ((h @ W).reshape(batch, length, heads, width // heads).transpose(1, 2) for W in (Wq, Wk, Wv))
        s = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(width // heads))
        e = (s - s.amax(-1, True)).exp()
        o = ((e / e.sum(-1, True)) @ v).transpose(1, 2).reshape(batch, length, width)
        r = x + o @ Wo
        r2 = r + (F.gelu(norm(r, g2, c2) @ W1 + b1) @ W2 + b2)
        return (r2 * r2).mean()

    return leaves, nodes, by_hand


def toy() -> Network:
    """Eleven operators on 4 x 3 numbers."""
    leaves = [
        ("x", "torch.full((4, 3), 0.5, requires_grad=True)"), ("W", "torch.full((3, 3), 0.1, requires_grad=True)"),
        ("b", "torch.zeros((3,), requires_grad=True)"),
    ]  # fmt: skip
    nodes = [
        ("a", "torch.matmul(x, W)"), ("c", "torch.add(a, b)"), ("d", "torch.tanh(c)"), ("e", "torch.mul(d, x)"),
        ("f", "torch.exp(e)"), ("g", "torch.sub(f, d)"), ("h", "torch.sigmoid(g)"), ("i", "torch.div(h, f)"),
        ("j", "torch.relu(i)"), ("k", "torch.mul(j, j)"), ("loss", "torch.mean(k)"),
    ]  # fmt: skip

    def by_hand(x: Any, W: Any, b: Any) -> torch.Tensor:
        d = torch.tanh(torch.matmul(x, W) + b)
        f = torch.exp(d * x)
        j = torch.relu(torch.sigmoid(f - d) / f)
        return torch.mean(j * j)

    return leaves, nodes, by_hand


def chain(length: int = 1000) -> Network:
    """So many small operators one after the other, on 64 x 32 numbers."""
    spelled = ("torch.mul({}, 1.01)", "torch.tanh({})", "torch.add({}, 0.1)", "torch.sigmoid({})")
    leaves = [("x", "torch.full((64, 32), 0.5, requires_grad=True)")]
    names = ["x", *(f"h{place}" for place in range(length - 1))]
    nodes = [(names[k + 1], spelled[k % 4].format(names[k])) for k in range(length - 1)]
    nodes.append(("loss", f"torch.sum({names[-1]})"))

    def by_hand(x: Any) -> torch.Tensor:
        steps = (lambda h: torch.mul(h, 1.01), torch.tanh, lambda h: torch.add(h, 0.1), torch.sigmoid)
        for place in range(length - 1):
            x = steps[place % 4](x)
        return torch.sum(x)

    return leaves, nodes, by_hand


def program(network: Network) -> Program:
    """The network as a compiled document, its backward included."""
    leaves, nodes, _ = network
    lines = [*leaves, *nodes, ("", "loss.backward()")]
    texts = [f"{name} = {text}" if name else text for name, text in lines]
    statements = tuple(
        Statement(
            node=ItemId(f"n{place}"),
            operator=_operator(text),
            text=texts[place],
            address=name or "backward_1",
            line=place + 1 + PRELUDE.count("\n"),
            names=(name,) if name else (),
            repeated=place >= len(leaves),
            backward=not name,
            inputs=tuple((f"arg.{k}", word) for k, word in enumerate(_operands(text))),
        )
        for place, (name, text) in enumerate(lines)
    )
    code = PRELUDE + "\n".join(texts) + "\n"
    return Program(script=code, code=code, prelude=PRELUDE, statements=statements, spans=(), seed=0, device="cpu")


def leaves_by_hand(network: Network) -> list[torch.Tensor]:
    """The leaves, made as a person would."""
    return [eval(text, {"torch": torch}) for _, text in network[0]]  # noqa: S307 - our own texts above


def _operands(text: str) -> list[str]:
    """Names among the arguments of a call."""
    return [word.strip() for word in text.partition("(")[2].rstrip(")").split(",") if word.strip().isidentifier()]


def _operator(text: str) -> str:
    return text.partition("(")[0].replace("F.", "torch.nn.functional.").replace("loss.", "torch.Tensor.")


def _norm(p: str, x: str, g: str, c: str) -> list[tuple[str, str]]:
    return [
        (f"{p}m", f"torch.mean({x}, -1, True)"), (f"{p}d", f"torch.sub({x}, {p}m)"), (f"{p}s", f"torch.mul({p}d, {p}d)"),  # noqa: E501
        (f"{p}v", f"torch.mean({p}s, -1, True)"), (f"{p}e", f"torch.add({p}v, 1e-5)"), (f"{p}r", f"torch.rsqrt({p}e)"),
        (f"{p}n", f"torch.mul({p}d, {p}r)"), (f"{p}w", f"torch.mul({p}n, {g})"), (f"{p}o", f"torch.add({p}w, {c})"),
    ]  # fmt: skip


def _attention(a: str, width: int, length: int, batch: int, heads: int) -> list[tuple[str, str]]:
    nodes = []
    for q in "qkv":
        nodes += [
            (f"{q}0", f"torch.matmul({a}, W{q})"),
            (f"{q}1", f"torch.reshape({q}0, ({batch}, {length}, {heads}, {width // heads}))"),
            (f"{q}2", f"torch.transpose({q}1, 1, 2)"),
        ]
    return [
        *nodes, ("kt", "torch.transpose(k2, -2, -1)"), ("sc", "torch.matmul(q2, kt)"),
        ("ss", f"torch.mul(sc, {1 / math.sqrt(width // heads)})"), ("mx", "torch.amax(ss, -1, True)"),
        ("sh", "torch.sub(ss, mx)"), ("ex", "torch.exp(sh)"), ("sm", "torch.sum(ex, -1, True)"), ("at", "torch.div(ex, sm)"),  # noqa: E501
        ("av", "torch.matmul(at, v2)"), ("at2", "torch.transpose(av, 1, 2)"),
        ("at3", f"torch.reshape(at2, ({batch}, {length}, {width}))"), ("ao", "torch.matmul(at3, Wo)"),
        ("r1", "torch.add(x, ao)"),
    ]  # fmt: skip
