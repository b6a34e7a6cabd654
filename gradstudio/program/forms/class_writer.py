"""Class: what a module and a training script have in common: ``__init__`` and ``forward`` of a program."""

from collections.abc import Iterable, Sequence

from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.graph.text.notes import note_of
from gradstudio.program.forms.module_plan import Plan
from gradstudio.program.forms.part_printer import LeafBody, PartBody, PartReferences
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.printing.comment_lines import INDENT, paragraphs
from gradstudio.program.printing.line_wrapping import WIDTH
from gradstudio.program.printing.pretty_printer import columns


class ClassWriter:
    """Writes the methods of a program's class, and parts of the program under names of their own.

    Attributes:
        imports: what everything needs that was written here.
        first: the program's first statement with its parts; its note stands above the class.
    """

    def __init__(self, plan: Plan) -> None:
        """Nothing is written yet."""
        self.imports = {"nn"}
        self._plan = plan
        self._roles = plan.roles
        self._graph = plan.graph
        self.first = self._first()

    def opening(self) -> list[str]:
        """The note at the top of the program stands above the class."""
        parts = self._plan.references.nested
        nodes = [self._graph.nodes[item] for item in self.first]
        notes = [note_of(node) if node.id in parts else node.note.strip("\n") for node in nodes]
        return [line or "#" for line in paragraphs("\n".join(filter(None, notes)))]

    def construction(self, device: bool) -> list[str]:
        """``__init__``."""
        plan = self._plan
        given = plan.attributes if plan.handed else dict.fromkeys(self._roles.given)
        references = plan.references.like(plan.names, () if plan.handed else plan.wrapped)
        names = self._distinct(references, given)
        head = _method_head("__init__", names)
        is_hidden = "super" in plan.units.binding_counts
        opening = "nn.Module.__init__(self)" if is_hidden else "super().__init__()"
        lines = [*head, INDENT * 2 + opening]
        if plan.handed:
            return [*lines, *self._holding(given, names)]
        references.spelled.update(zip(given, names, strict=True))
        late = set(plan.late.values())  # these have their own names until they become parameters
        read = plan.lookups.read_by_code(
            self._roles.construction, plan.attributes
        )  # nor has code any attributes of an object
        own = {v: f"self.{name}" for v, name in plan.attributes.items()}
        references.spelled.update((v, name) for v, name in own.items() if v not in late and v not in read)
        made = set(self._roles.construction) - plan.omitted
        kept = [f"{INDENT * 2}{own[v]} = {name}" for v, name in read.items() if v not in late]
        return [*lines, *self.statements(references, made, 2, device), *kept]

    def forward(self, device: bool) -> list[str]:
        """``forward``."""
        plan = self._plan
        roles = self._roles
        references = plan.references.like({**plan.names, **dict.fromkeys(roles.unread, "_")})
        names = self._distinct(references, roles.inputs)
        references.spelled.update(zip(roles.inputs, names, strict=True))
        read = plan.lookups.read_by_code(roles.forward, plan.attributes)
        own = {v: f"self.{name}" for v, name in plan.attributes.items()}
        references.spelled.update((v, name) for v, name in own.items() if v not in read)
        held = [f"{INDENT * 2}{name} = {own[v]}" for v, name in read.items()]
        body = self.statements(references, roles.forward, 2, device, roles.body)
        line = f"return {', '.join(references.name(value) for value in roles.returned)}"
        return [*_method_head("forward", names), *held, *body, INDENT * 2 + line]

    def statements(
        self, references: PartReferences, units: Iterable[ItemId], depth: int, device: bool, body: BodyId = ROOT
    ) -> list[str]:
        """The lines of some statements, and of what in them cannot run."""
        part = self.part(references, device)
        part.choose(units)
        part.choose_incomplete(inside=True)
        return self.written(part, depth, body)

    def part(self, references: PartReferences, device: bool) -> LeafBody:
        """What writes a part of this program; `device` where the text knows one."""
        plan = self._plan
        attributes = plan.attributes
        if plan.handed:
            names = {value: references.name(value) for value in attributes}
        else:
            names = {value: f"self.{name}" for value, name in attributes.items()}
        part = LeafBody(references, device, plan.stem, plan.units, plan.late, names)
        part.silent.update(self.first)
        return part

    def written(self, part: PartBody, depth: int, *bodies: BodyId) -> list[str]:
        """The lines of what was chosen for a part; what they need is added to the imports."""
        for body in bodies:
            part.write(body, depth)
        self.imports |= part.imports
        return trimmed(part.lines)

    def _holding(self, given: Iterable[Value], names: list[str]) -> list[str]:
        """What is handed in is kept."""
        attributes = self._plan.attributes
        return [f"{INDENT * 2}self.{attributes[v]} = {name}" for v, name in zip(given, names, strict=True)]

    def _distinct(self, references: PartReferences, values: Iterable[Value]) -> list[str]:
        """The parameters of a method that takes these values."""
        taken = {"self"}
        names = []
        for value in values:
            name = references.text(value) or self._plan.attributes.get(value, "") or references.name(value)
            if name in taken:
                name = self._plan.references.fresh(name)
            names.append(name)
            taken.add(name)
        return names

    def _first(self) -> list[ItemId]:
        units = self._plan.units
        for item in self._graph.order():
            if item not in self._graph.nodes or not units.validity.is_live(item):
                continue
            statement = units.statement(item)
            if statement not in self._graph.nodes or self._graph.parents[statement] != ROOT:
                return []
            return units.members(statement)
        return []


def _method_head(name: str, arguments: Sequence[str]) -> list[str]:
    """The head of a method, broken as `ruff format` breaks it."""
    whole = f"{INDENT}def {name}({', '.join(('self', *arguments))}):"
    if columns(whole) <= WIDTH:
        return [whole]
    inner = f"{INDENT * 2}{', '.join(('self', *arguments))}"
    if columns(inner) <= WIDTH:
        return [f"{INDENT}def {name}(", inner, f"{INDENT}):"]
    return [f"{INDENT}def {name}(", *(f"{INDENT * 2}{one}," for one in ("self", *arguments)), f"{INDENT}):"]


def trimmed(lines: list[str]) -> list[str]:
    """Lines without the blank ones at both ends."""
    start = next((k for k, line in enumerate(lines) if line), len(lines))
    end = next((k for k in range(len(lines), start, -1) if lines[k - 1]), start)
    return lines[start:end]
