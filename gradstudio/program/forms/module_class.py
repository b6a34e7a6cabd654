"""Module: a program as a class of torch's, and a main part that makes the values of the canvas."""

from collections.abc import Iterable

from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.program.forms.class_writer import ClassWriter
from gradstudio.program.forms.module_plan import Plan
from gradstudio.program.forms.part_printer import PartReferences
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import definition_lines
from gradstudio.program.printing.script_report import report_calls
from gradstudio.program.write import header_lines, import_lines, needs_device

_OF_MAIN = ("torch.manual_seed(", "torch.set_default_dtype(")


def write_module(graph: Graph, *, stem: str = "program", report: bool = True) -> str:
    """A file with the program as a class, and a main part that gives what the canvas shows, bit for bit.

    With `report` the main part prints all values at its end.

    Raises:
        NoForm: the program has no such class; the message says why, and what to do.
    """
    return _ModuleFile(Plan(graph, stem)).text(report)


class _ModuleFile:
    """Writes the parts of one file."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roles = plan.roles
        self.graph = plan.graph
        self.device = needs_device(plan.analysis)
        self.writer = ClassWriter(plan)

    def text(self, report: bool) -> str:
        """The whole file, with or without the report at its end."""
        plan = self.plan
        writer = self.writer
        methods = [*writer.construction(self.device), "", *writer.forward(self.device)]
        main = self._main()
        constants = writer.statements(plan.references.like({}), self.roles.constants, 0, self.device)
        definitions = definition_lines(self.graph, self.device, plan.stem, writer.imports).lines
        header = header_lines(self.graph, self.device, writer.imports)
        seeds = [line for line in header if line.startswith(_OF_MAIN)]
        top = [line for line in header if line not in seeds]
        lines = [*import_lines(writer.imports), ""]  # last: what all the others need is known only now
        lines += [*top, ""] if top else []
        lines += [*constants, ""] if constants else []
        lines += ["", *definitions, ""] if definitions else []
        lines += ["", *writer.opening(), f"class {plan.title}(nn.Module):", *self._docstring(), *methods, "", ""]
        lines.append('if __name__ == "__main__":')
        lines += [INDENT + line for line in seeds]
        lines += [""] if seeds else []
        lines += [*main, *(self._report() if report else []), ""]
        return "\n".join(lines)

    def _docstring(self) -> list[str]:
        """Why a class does not make its layers itself."""
        if not self.plan.handed:
            return []
        text = "What it is made of is handed in, since other random numbers are drawn in between; see the main part."
        return [f'{INDENT}"""{text}"""', ""]

    # ---------------------------------------------------------------- the main part

    def _main(self) -> list[str]:
        plan = self.plan
        references = self._outside()
        part = self.writer.part(references, self.device)
        call = f"{plan.variable}({', '.join(references.name(value) for value in self.roles.inputs)})"
        results = [references.name(value) for value in self.roles.returned]
        part.ends = True
        part.instead[plan.call] = [f"{', '.join(results)} = {call}"]
        made_here = [u for u in self.roles.construction if plan.handed and u not in plan.omitted]
        part.choose([*plan.main, *made_here], self.roles.forward)
        part.choose_incomplete(inside=False)
        given = plan.attributes if plan.handed else self.roles.given
        made = f"{plan.variable} = {plan.title}({', '.join(references.name(value) for value in given)})"
        read = plan.looked_up.items() if not plan.handed else ()
        part.before[plan.site] = [made, *(f"{name} = {plan.variable}.{plan.attributes[v]}" for v, name in read)]
        return self.writer.written(part, 1, ROOT)

    def _outside(self) -> PartReferences:
        """The names of the main part."""
        plan = self.plan
        names = {value: name for value, name in plan.names.items() if value == self.roles.root}
        if plan.handed:
            unnamed = {v: n for v, n in plan.attributes.items() if not plan.analysis.validity.name(v)}
            return plan.references.like({**names, **unnamed}, plan.wrapped)
        held = ((v, name) for v, name in plan.attributes.items() if v not in plan.looked_up)
        names.update((v, f"{plan.variable}.{name}") for v, name in held)
        return plan.references.like(names)

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
            is_bound = item in self.graph.nodes and self.plan.analysis.validity.is_live(item)
            for k, name in enumerate(self.plan.references.labels(item) if is_bound else ()):
                found.setdefault(name, []).append((item, k))
        return found
