"""Programs for tests, put together record by record, so that nothing but the writer decides their text."""

import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import run

from gradstudio.graph.edits import AddBlock, AddNode, AddWire, SetHeader, apply
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, Header, ItemId, Node, Wire
from gradstudio.program.write import write_code

Source = ItemId | tuple[ItemId, int]


class Sketch:
    """A graph and a short hand for its edits; ids are n1, n2, ... in order."""

    def __init__(self, *, seed: int | None = None, device: str = "cpu", default_dtype: str = "") -> None:
        self.graph = Graph()
        self.count = 0
        apply(self.graph, SetHeader(Header(seed, device, default_dtype)))

    def node(
        self,
        operator: str,
        names: str | tuple[str, ...] = "",
        wires: Mapping[str, Source] | None = None,
        *,
        body: ItemId | str = ROOT,
        part: bool = False,
        literals: Mapping[str, str] | None = None,
        **fields: object,
    ) -> ItemId:
        """A node at the end of a body; `names` are separated by spaces, `part` marks it nested."""
        item = self._id()
        node = Node(
            id=item,
            operator=operator,
            names=tuple(names.split()) if isinstance(names, str) else names,
            literals=dict(literals or {}),
            nested=part,
            **fields,  # type: ignore[arg-type]  # whatever a node has
        )
        apply(self.graph, AddNode(node, BodyId(body), len(self.graph.bodies[BodyId(body)])))
        self.wire(item, wires or {})
        return item

    def block(
        self, kind: str, wires: Mapping[str, Source] | None = None, *, body: ItemId | str = ROOT, **fields: object
    ) -> ItemId:
        """A block at the end of a body."""
        item = self._id()
        block = Block(id=item, kind=kind, **fields)  # type: ignore[arg-type]  # whatever a block has
        apply(self.graph, AddBlock(block, BodyId(body), len(self.graph.bodies[BodyId(body)])))
        self.wire(item, wires or {})
        return item

    def wire(self, target: ItemId, wires: Mapping[str, Source]) -> None:
        """Wires into a target, by port."""
        for port, source in wires.items():
            item, output = source if isinstance(source, tuple) else (source, 0)
            apply(self.graph, AddWire(Wire(item, output, target, port)))

    def tensor(self, name: str, **fields: object) -> ItemId:
        """``name = torch.tensor(1.0)`` on the document's device."""
        return self.node("torch.tensor", name, literals={"data": "1.0", "device": "device"}, **fields)  # type: ignore[arg-type]

    def parameter(self, name: str, **fields: object) -> ItemId:
        """A leaf that requires grad."""
        literals = {"data": "1.0", "device": "device", "requires_grad": "True"}
        return self.node("torch.tensor", name, literals=literals, **fields)  # type: ignore[arg-type]

    @property
    def code(self) -> str:
        """The script without its report."""
        return write_code(self.graph)[0]

    @property
    def lines(self) -> list[str]:
        """The statements alone, each line as it stands."""
        code = self.code.rstrip("\n").split("\n")
        return [line for line in code if line and not line.startswith(("import ", "from "))]

    def _id(self) -> ItemId:
        self.count += 1
        return ItemId(f"n{self.count}")


def formatted(text: str) -> str:
    """The text as `ruff format` leaves it, in its own style."""
    ruff = Path(sys.executable).with_name("ruff")
    done = run([ruff, "format", "--isolated", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    return done.stdout
