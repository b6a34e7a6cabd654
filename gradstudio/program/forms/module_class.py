"""Module: a program as a class of torch's, and a main part that makes the values of the canvas."""

from collections.abc import Iterable, Sequence

from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.text.notes import note_of
from gradstudio.program.forms.module_plan import Plan
from gradstudio.program.forms.part_printer import PartBody, PartReferences
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.printing.comment_lines import INDENT, paragraphs
from gradstudio.program.printing.definition_printer import definition_lines
from gradstudio.program.printing.line_wrapping import WIDTH
from gradstudio.program.printing.pretty_printer import columns
from gradstudio.program.printing.script_report import report_calls
from gradstudio.program.write import header_lines, import_lines, needs_device

_OF_MAIN = ("torch.manual_seed(", "torch.set_default_dtype(")


def write_module(graph: Graph, *, stem: str = "program") -> str:
    """A file with the program as a class, and a main part that gives what the canvas shows, bit for bit.

    Raises:
        NoForm: the program has no such class; the message says why, and what to do.
    """
    return ModuleWriter(Plan(graph, stem)).text()


class ModuleWriter:
    """Writes the parts of one file; a training script has its class in common with it."""

    def __init__(self, plan: Plan) -> None:
        """Nothing is written yet."""
        self.plan, self.roles, self.graph = plan, plan.roles, plan.graph
        self.device = needs_device(plan.analysis)
        self.imports = {"nn"}
        self.first = self._first()

    def text(self) -> str:
        """The whole file."""
        plan = self.plan
        construction, forward, main = self._construction(), self._forward(), self._main()
        constants = self._constants()
        definitions = definition_lines(self.graph, self.device, plan.stem, self.imports).lines
        header = header_lines(self.graph, self.device, self.imports)
        seeds = [line for line in header if line.startswith(_OF_MAIN)]
        top = [line for line in header if line not in seeds]
        lines = [*import_lines(self.imports), ""]
        lines += [*top, ""] if top else []
        lines += [*constants, ""] if constants else []
        lines += ["", *definitions, ""] if definitions else []
        lines += ["", *self._opening(), f"class {plan.title}(nn.Module):", *self._docstring(), *construction, ""]
        lines += [*forward, "", ""]
        lines.append('if __name__ == "__main__":')
        lines += [INDENT + line for line in seeds]
        lines += [*([""] if seeds else []), *main, *self._report(), ""]
        return "\n".join(lines)

    def _first(self) -> list[ItemId]:
        """The first statement with its parts."""
        for item in self.graph.order():
            if item in self.graph.nodes and self.plan.analysis.soundness.is_live(item):
                statement = self.plan.units.statement(item)
                members = self.plan.units.members(statement) if statement in self.graph.nodes else []
                return members if self.graph.parents[statement] == ROOT else []
        return []

    def _opening(self) -> list[str]:
        """The note at the top of the program stands above the class."""
        parts = self.plan.references.nested
        nodes = [self.graph.nodes[item] for item in self.first]
        notes = [note_of(node) if node.id in parts else node.note.strip("\n") for node in nodes]
        return [line or "#" for line in paragraphs("\n".join(filter(None, notes)))]

    # ---------------------------------------------------------------- the class

    def _docstring(self) -> list[str]:
        """Why a class does not make its layers itself."""
        if not self.plan.handed:
            return []
        text = "What it is made of is handed in, since other random numbers are drawn in between; see the main part."
        return [f'{INDENT}"""{text}"""', ""]

    def _construction(self) -> list[str]:
        plan = self.plan
        given = plan.attributes if plan.handed else dict.fromkeys(self.roles.given)
        references = plan.references.like(plan.names, () if plan.handed else plan.wrapped)
        names = self._distinct(references, given, {"self"})
        head = _signature("__init__", names)
        is_hidden = "super" in plan.units.binding_counts
        opening = [f"{INDENT * 2}{'nn.Module.__init__(self)' if is_hidden else 'super().__init__()'}"]
        if plan.handed:
            held = [f"{INDENT * 2}self.{plan.attributes[v]} = {n}" for v, n in zip(given, names, strict=True)]
            return [*head, *opening, *held]
        references.spelled.update(zip(given, names, strict=True))
        late = set(plan.late.values())
        references.spelled.update((v, f"self.{name}") for v, name in plan.attributes.items() if v not in late)
        body = self._body(references, set(self.roles.construction) - plan.omitted, 2)
        return [*head, *opening, *body]

    def _forward(self) -> list[str]:
        plan = self.plan
        references = plan.references.like({**plan.names, **dict.fromkeys(self.roles.unread, "_")})
        names = self._distinct(references, self.roles.inputs, {"self"})
        references.spelled.update(zip(self.roles.inputs, names, strict=True))
        references.spelled.update((v, f"self.{name}") for v, name in plan.attributes.items())
        body = self._body(references, self.roles.forward, 2)
        line = f"return {', '.join(references.name(value) for value in self.roles.returned)}"
        return [*_signature("forward", names), *body, INDENT * 2 + line]

    def _distinct(self, references: PartReferences, values: Iterable[Value], taken: set[str]) -> list[str]:
        names = []
        for value in values:
            name = references.text(value) or self.plan.attributes.get(value, "") or references.name(value)
            names.append(name if name not in taken else self.plan.references.fresh(name))
            taken.add(names[-1])
        return names

    def _constants(self) -> list[str]:
        return self._body(self.plan.references.like({}), self.roles.constants, 0)

    def _body(self, references: PartReferences, units: Iterable[ItemId], depth: int) -> list[str]:
        body = self._part(references)
        body.silent.update(self.first)
        body.choose(units)
        body.choose_incomplete(inside=True)
        body.write(self.roles.body if units is self.roles.forward else ROOT, depth)
        self.imports |= body.imports
        return trimmed(body.lines)

    def _part(self, references: PartReferences) -> "_LeafBody":
        handed = self.plan.handed
        names = self.plan.attributes.items()
        attributes = {v: references.name(v) if handed else f"self.{name}" for v, name in names}
        return _LeafBody(references, self.device, self.plan.stem, self.plan.units, self.plan.late, attributes)

    # ---------------------------------------------------------------- the main part

    def _main(self) -> list[str]:
        plan = self.plan
        references = self._outside()
        body = self._part(references)
        body.silent.update(self.first)
        call = f"{plan.variable}({', '.join(references.name(value) for value in self.roles.inputs)})"
        results = [references.name(value) for value in self.roles.returned]
        body.ends = True
        body.instead[plan.call] = [f"{', '.join(results)} = {call}"]
        made_here = [u for u in self.roles.construction if plan.handed and u not in plan.omitted]
        body.choose([*plan.main, *made_here], self.roles.forward)
        body.choose_incomplete(inside=False)
        given = plan.attributes if plan.handed else self.roles.given
        made = f"{plan.variable} = {plan.title}({', '.join(references.name(value) for value in given)})"
        body.before[plan.site] = [made]
        body.write(ROOT, 1)
        self.imports |= body.imports
        return trimmed(body.lines)

    def _outside(self) -> PartReferences:
        """The names of the main part."""
        plan = self.plan
        root = {value: name for value, name in plan.names.items() if value == self.roles.root}
        if plan.handed:
            unnamed = {v: n for v, n in plan.attributes.items() if not plan.analysis.soundness.name(v)}
            return plan.references.like({**root, **unnamed}, plan.wrapped)
        return plan.references.like({**root, **{v: f"{plan.variable}.{n}" for v, n in plan.attributes.items()}})

    def _report(self) -> list[str]:
        plan = self.plan
        shown = {*self.roles.returned, *plan.attributes}
        hidden = {value for names in self._labels(self._inner()).values() for value in names} - shown
        for values in self._labels(self.graph.order()).values():
            if values[-1] in hidden:
                hidden.update(values)  # the name's last value never leaves `forward`: no other is shown for it
        calls = report_calls(plan.analysis, self._outside(), hidden)
        return ["", *calls] if calls else []

    def _inner(self) -> list[ItemId]:
        """All that stands in the class, in program order."""
        units = (*self.roles.forward, *self.roles.construction)
        found = {item for unit in units for item in self.plan.units.members(unit)}
        return sorted(found, key=self.plan.units.position.__getitem__)

    def _labels(self, items: Iterable[ItemId]) -> dict[str, list[Value]]:
        """The values that items bind, in their order, by the canvas's names for them."""
        found: dict[str, list[Value]] = {}
        for item in items:
            is_bound = item in self.graph.nodes and self.plan.analysis.soundness.is_live(item)
            for k, name in enumerate(self.plan.references.labels(item) if is_bound else ()):
                found.setdefault(name, []).append((item, k))
        return found


class _LeafBody(PartBody):
    """Writes where leaves are made: a tensor that becomes a parameter later has its own name until then."""

    def __init__(
        self,
        references: PartReferences,
        device: bool,
        stem: str,
        units: Units,
        late: dict[ItemId, Value],
        attributes: dict[Value, str],
    ) -> None:
        super().__init__(references, device, stem, units)
        self.late, self.attributes = late, attributes

    def item(self, item: ItemId, depth: int) -> bool:
        """Write an item; what it makes a parameter is the object's from now on."""
        value = self.late.get(item)
        if value is None or item not in self.references.wrapped:
            return super().item(item, depth)
        self.imports.add("nn")
        made = f"{self.attributes[value]} = nn.Parameter({self.references.name(value)})"
        self.put(made, depth, self.graph.nodes[item].beside if item in self.graph.nodes else "")
        self.references.spelled[value] = self.attributes[value]
        return True


def _signature(name: str, arguments: Sequence[str]) -> list[str]:
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
