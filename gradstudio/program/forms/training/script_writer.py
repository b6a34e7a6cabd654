"""Script writer: what every kind of training script has in common: its class, its constants, its groups."""

import re
from abc import ABC, abstractmethod

from gradstudio.graph.groups.definitions import call_order, setup_of, top_of
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph
from gradstudio.graph.names import names_of
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_writer import ClassWriter
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.script_functions import FunctionWriter
from gradstudio.program.forms.training.script_plan import (
    LONGEST_NAME,
    ScriptPlan,
    asks_for_device,
    may_lack_gradients,
    moves_to_device,
)
from gradstudio.program.forms.training.texts.script_templates import select_lines
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import definition_lines


class ScriptWriter(ABC):
    """Writes one training script.

    Attributes:
        features: what its texts ask of it.
        writer: writes the canvas's statements; `functions` those that hold them.
    """

    head = process = ""

    def __init__(self, plan: ScriptPlan) -> None:
        """Nothing is written yet."""
        self.plan = plan
        self.step = plan.step
        self.roles = plan.roles
        self.graph = plan.graph
        self.names = {**plan.names, **self._kept_apart()}
        self.features = self.find_features()
        self.writer = ClassWriter(plan)
        self.functions = self.make_functions()
        if "optimizer" in self.features:
            self.writer.imports.add("optim")

    @abstractmethod
    def make_functions(self) -> FunctionWriter:
        """The writer of the functions."""

    @abstractmethod
    def find_features(self) -> frozenset[str]:
        """What the texts of the script ask of it."""

    @abstractmethod
    def values(self) -> dict[str, str]:
        """What stands for each ``<name>`` in its texts."""

    @abstractmethod
    def parts(self) -> list[list[str]]:
        """Functions and texts behind the class, in their order."""

    @abstractmethod
    def imports(self) -> list[str]:
        """The lines at the top; asked for when all else is written."""

    def makes_data(self, group: str) -> bool:
        """Whether all that a group makes comes to the device by itself, wherever it is made."""
        return False

    def text(self) -> str:
        """The whole script."""
        values = self.values()
        model = self._class()
        parts = self.parts()
        constants = self._constants()
        definitions = self._definitions()
        imports = self.imports()
        top = [
            *select_lines(self.head, self.features, values),
            "",
            *imports,
            "",
            *select_lines(self.process, self.features, values),
        ]
        has_place = any(line.startswith("HERE = ") for line in top)
        top += ["HERE = Path(__file__).parent"] if "Path" in self.writer.imports and not has_place else []
        lines = [*top, "", *constants] if constants else top
        for part in (definitions, model, *parts):
            lines += ["", "", *part] if part else []
        _refuse_clash(self.graph, lines)
        return "\n".join([*lines, ""])

    def common_features(self) -> frozenset[str]:
        """Those of every training script."""
        plan = self.plan
        found = {
            "dtype": bool(self.graph.header.default_dtype),
            "unused": may_lack_gradients(plan),
            "device": any(moves_to_device(plan.units, some) for some in (plan.set_up_units, self.roles.construction)),
        }
        schedule = self.step.schedule.features if self.step.schedule is not None else set()
        return frozenset(name for name, holds in found.items() if holds) | schedule

    def _kept_apart(self) -> dict[Value, str]:
        """Other names for what the canvas calls like something in the functions around it."""
        plan = self.plan
        outside = (*plan.set_up_units, *plan.optimizer_units, *plan.scheduler_units, *self.step.updates)
        found: dict[Value, str] = {}
        for unit in dict.fromkeys(outside):  # in a fixed order: it decides which of two names gets the number
            for item in plan.units.members(unit):
                for k, name in enumerate(names_of(self.graph, item)):
                    if name in plan.own_locals:
                        found[item, k] = plan.references.fresh(f"{name}_")
        return found

    def _class(self) -> list[str]:
        writer = self.writer
        is_moved = moves_to_device(self.plan.units, self.roles.construction)
        construction = writer.construction(is_moved)
        if is_moved:
            construction = [_with_device(construction[0]), *construction[1:]]
        asks = asks_for_device(self.plan.units, self.roles.forward)
        forward = writer.forward(asks)
        if asks:
            end = next(k for k, line in enumerate(forward) if line.endswith(":"))
            forward.insert(end + 1, f"{INDENT * 2}device = next(self.parameters()).device")
        return [*writer.opening(), f"class {self.plan.title}(nn.Module):", *construction, "", *forward]

    def _constants(self) -> list[str]:
        """Numbers that the class uses: they know no device."""
        return self.writer.statements(self.plan.references.like(self.names), self.roles.constants, 0, device=False)

    def _definitions(self) -> list[str]:
        """The groups; what their layers hold is moved with the class, what else they make could not be."""
        for name in call_order(self.graph):
            if self.makes_data(name):
                continue
            definition = self.graph.definitions[name]
            made_once = setup_of(definition)
            for node in definition.graph.nodes.values():
                if DOCUMENT_DEVICE in node.literals.values() and top_of(definition.graph, node.id) not in made_once:
                    raise NoForm(
                        f"'{title(definition.graph, node.id)}' makes a tensor inside the group '{name}', and a "
                        "training script cannot say there on which device. Make it outside and give it to the group."
                    )
        return definition_lines(self.graph, False, self.plan.stem, self.writer.imports).lines


def _refuse_clash(graph: Graph, lines: list[str]) -> None:
    """Refuse groups that are called as the script's own functions are.

    Raises:
        NoForm: one is.
    """
    names = [found[1] for line in lines if (found := re.match(r"(?:def|class) (\w+)", line))]
    twice = next((name for name in graph.definitions if names.count(name) > 1), "")
    if twice:
        raise NoForm(f"A training script has a function '{twice}' of its own. Rename the group '{twice}', then export.")


def _with_device(head: str) -> str:
    """The head of `__init__` that is given a device too."""
    return head.replace("(self", "(self, device", 1)


def stem_words(stem: str) -> str:
    """A file's name as it stands in the text of a script."""
    return re.sub(r"[^\w.+ -]", "_", stem, flags=re.ASCII)[:LONGEST_NAME] or "program"
