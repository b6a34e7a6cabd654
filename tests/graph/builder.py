"""A small hand for tests: draws programs by recipes, as gestures would."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import Graph, ItemId, Wire


class Drawing:
    """A graph and the recipes applied to it."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.inverses: list[Edits] = []

    def do(self, edits: Edits) -> None:
        self.inverses.append(apply_all(self.graph, edits))

    def undo(self) -> None:
        apply_all(self.graph, self.inverses.pop())

    def add(self, key: str, *sources: ItemId, name: str | None = None, **literals: str) -> ItemId:
        """A node whose first inputs are wired to the sources, in order."""
        edits, item = recipes.add_operator(self.graph, key, 0, 0)
        self.do(edits)
        if name is not None:
            self.do(recipes.rename(self.graph, item, (name,)))
        for path, text in literals.items():
            self.do(recipes.set_literal(self.graph, item, path, text))
        from gradstudio.graph.ports.item_ports import input_ports

        ports = [port.path for port in input_ports(self.graph, item)]
        for source, path in zip(sources, ports, strict=False):
            self.wire(source, item, path)
        return item

    def wire(self, source: ItemId, target: ItemId, path: str, output: int = 0) -> Wire:
        self.do(recipes.connect(self.graph, source, output, target, path))
        return self.graph.wires.get((target, path)) or self.graph.wires[target, f"{path}.0"]

    def names(self) -> list[str]:
        from gradstudio.graph.text.item_titles import title

        return [title(self.graph, item) for item in self.graph.order()]
