"""Selection: chosen statements of a program as text, with the imports they need. No seed, no report."""

import re
from collections.abc import Iterable
from itertools import groupby

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.program.forms.part_printer import PartBody, PartReferences
from gradstudio.program.forms.statement_units import Units
from gradstudio.program.write import header_lines, import_lines, needs_device, write_code

_DEVICE = re.compile(r"(?<![\w.])device(?![\w=])")
_SETTINGS = ("torch.manual_seed(", "torch.set_default_dtype(")


def write_selection(graph: Graph, items: Iterable[ItemId], *, stem: str = "program") -> str:
    """The statements that print the items, in program order and blocks whole; the whole program when there are none.

    Names bound outside are read as they are.
    """
    chosen = {item for item in items if item in graph}
    if not chosen:
        return write_code(graph, stem=stem)[0]
    analysis = analyse(graph)
    device = needs_device(analysis)
    units = Units(analysis)
    body = _Chosen(PartReferences(analysis, analysis.nested), device, stem, units)
    position = {item: place for place, item in enumerate(graph.order())}
    outermost = sorted(_outermost(graph, {units.statement(item) for item in chosen}), key=position.__getitem__)
    for parent, run in groupby(outermost, key=lambda item: graph.parents[item]):
        body.choose_items(run)
        body.write(parent, 0)
    needed = set(body.imports)
    uses_device = device and any(_DEVICE.search(line) for line in body.lines)
    header = [line for line in header_lines(graph, uses_device, set(needed)) if not line.startswith(_SETTINGS)]
    needed.update(["torch"] if uses_device else [])
    imports = import_lines(needed)
    parts = [part for part in (imports, header, body.lines) if part]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


class _Chosen(PartBody):
    """Writes items wherever they stand."""

    def choose_items(self, items: Iterable[ItemId]) -> None:
        """Write these items with all that is in them."""
        self._written = set()
        for item in items:
            self._written.add(item)
            if item in self.graph.blocks:
                self._written.update(self.graph.order(BodyId(item)))

    def tail(self, body: BodyId) -> str:
        """The comment at the end of a block that is written."""
        return super().tail(body) if ItemId(body) in self._written else ""


def _outermost(graph: Graph, items: set[ItemId]) -> list[ItemId]:
    return [item for item in items if not any(ItemId(body) in items for body in graph.ancestors(item))]
