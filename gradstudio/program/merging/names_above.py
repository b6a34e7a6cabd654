"""What names mean at one place of a program that is drawn: what reading its text as far as there would have bound."""

from collections.abc import Iterator

from gradstudio.graph.model import ROOT, Block, BodyId, ItemId
from gradstudio.operators.model import Face
from gradstudio.program.errors import NotReadable
from gradstudio.program.printing.name_references import References

Meaning = tuple[ItemId, int]


class NamesAbove:
    """The names above some neighbours of one body, and those that are bound elsewhere.

    Attributes:
        elsewhere: every name that something else binds than these neighbours.
    """

    def __init__(self, references: References, body: BodyId, items: frozenset[ItemId]) -> None:
        """Look at the program; `items` are the neighbours with their parts."""
        self._references, self.graph, self._items = references, references.graph, items
        self._around = {body, *(self.graph.ancestors(ItemId(body)) if body != ROOT else ())}
        self._loops = [one for one in self._around if one != ROOT and self.graph.blocks[ItemId(one)].kind == "for"]
        self._meant: dict[str, Meaning | None] = {}
        self.elsewhere: set[str] = set()
        self._opens: dict[BodyId, bool] = dict.fromkeys(self._around, True)
        is_above = True
        for item in self.graph.order():
            if item in items:
                is_above = False
            elif references.validity.is_live(item) and item not in references.nested:
                bound = dict(self._bound(item))
                self.elsewhere.update(bound)
                if is_above:
                    self._meant.update(bound)

    @property
    def everywhere(self) -> set[str]:
        """Every name that is bound, by these neighbours too."""
        own = (name for item in self._items for name in self.graph.nodes[item].names)
        return self.elsewhere.union(own)

    @property
    def is_in_loop(self) -> bool:
        """Whether the neighbours may run again and again."""
        return bool(self._loops)

    def meaning(self, name: str) -> Meaning | None:
        """What a name means above the neighbours; None when nothing binds it.

        Raises:
            NotReadable: only reading the whole tells.
        """
        if name not in self._meant:
            if name in self.elsewhere and self._loops:
                raise NotReadable(f"'{name}' may come from the turn before.", 1)
            return None
        meant = self._meant[name]
        if meant is None or self._may_be_carried(name, meant[0]):
            raise NotReadable(f"'{name}' may mean several results.", 1)
        return meant

    def _may_be_carried(self, name: str, item: ItemId) -> bool:
        """Whether something in a loop around binds the name that something before the loop has bound."""
        inside = {*self.graph.ancestors(item)}
        for loop in self._loops:
            if loop not in inside and BodyId(item) != loop:
                for one in self.graph.order(loop):
                    node = self.graph.nodes.get(one)
                    if name in (node.names if node is not None else (self.graph.blocks[ItemId(one)].variable,)):
                        return True
        return False

    def _bound(self, item: ItemId) -> Iterator[tuple[str, Meaning | None]]:
        """The names that an item binds or writes into, with what each means then; None: it depends."""
        block = self.graph.blocks.get(item)
        if block is not None:
            yield from self._by_block(block)
            return
        is_sure = self._is_sure(self.graph.parents[item])
        names = self._references.bound(item)
        for k, name in enumerate(names):
            if name != "_":
                yield name, (item, k) if is_sure else None
        operator = self._references.validity.operators.get(item)
        if not names and operator is not None and (operator.writes or operator.face is Face.AUGMENTED):
            validity = self._references.validity
            is_plain = is_sure and operator.face is Face.AUGMENTED
            for k in range(max(1, len(operator.results))):
                name = validity.name(validity.binding(item, k))
                if name:
                    yield name, (item, 0) if is_plain else None

    def _by_block(self, block: Block) -> Iterator[tuple[str, Meaning | None]]:
        if block.kind != "for":
            return
        is_around = BodyId(block.id) in self._around
        variable = self._references.variable(block.id)
        if variable != "_":
            yield variable, (block.id, 0) if is_around and block.variable == variable else None
        for name in block.carried:
            yield name, None

    def _is_sure(self, body: BodyId) -> bool:
        """Whether what a body binds is surely bound behind it, by what binds it there."""
        known = self._opens.get(body)
        if known is None:
            block = self.graph.blocks[ItemId(body)]
            is_plain = block.kind not in ("for", "if")
            known = self._opens[body] = is_plain and self._is_sure(self.graph.parents[block.id])
        return known
