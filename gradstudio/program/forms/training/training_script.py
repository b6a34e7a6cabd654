"""Train: a program as a training script, for one process or, under torchrun, for several."""

import re

from gradstudio.graph.groups.definitions import call_order, setup_of, top_of
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph
from gradstudio.graph.names import names_of, title
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_writer import ClassWriter
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.script_functions import FunctionWriter
from gradstudio.program.forms.training.script_templates import (
    BATCH,
    DEVICE,
    HEAD,
    MAIN,
    PROCESS,
    SAVE,
    TALK,
    TRAIN,
    select_lines,
)
from gradstudio.program.forms.training.training_plan import (
    DEFAULT_RATE,
    DEFAULT_STEPS,
    LOCALS,
    LONGEST_NAME,
    TrainingPlan,
    Turns,
    asks_for_device,
    moves_to_device,
)
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import definition_lines


def write_training(graph: Graph, *, stem: str) -> str:
    """A script that trains what the program trains, on the data that it has.

    Raises:
        NoForm: it has no loss, nothing to train, or steps that no checkpoint could go on from; says what to do.
    """
    return _Script(TrainingPlan(graph, stem)).text()


class _Script:
    """Writes one training script."""

    def __init__(self, plan: TrainingPlan) -> None:
        self.plan = plan
        self.step = plan.step
        self.roles = plan.roles
        self.graph = plan.graph
        self.names = {**plan.names, **self._kept_apart()}
        self.features = self._features()
        self.writer = ClassWriter(plan)
        self.functions = FunctionWriter(plan, self.writer, self.features, self.names)
        if "optimizer" in self.features:
            self.writer.imports.add("optim")

    def text(self) -> str:
        """The whole script."""
        values = self._values()
        model = self._class()
        functions = self.functions
        canvas = [functions.set_up(), functions.make_optimizer(), functions.make_scheduler(), functions.train_step()]
        templates = [BATCH if "rows" in self.features else "", SAVE, DEVICE, TALK, TRAIN, MAIN]
        constants = self._constants()
        definitions = self._definitions()
        imports = self._imports()  # after all that is written: they say what they need
        top = [
            *select_lines(HEAD, self.features, values),
            "",
            *imports,
            "",
            *select_lines(PROCESS, self.features, values),
        ]
        top += ["HERE = Path(__file__).parent"] if "Path" in self.writer.imports else []
        lines = [*top, "", *constants] if constants else top
        for part in (definitions, model, *canvas, *(select_lines(text, self.features, values) for text in templates)):
            lines += ["", "", *part] if part else []
        _refuse_clash(self.graph, lines)
        return "\n".join([*lines, ""])

    def _features(self) -> frozenset[str]:
        plan = self.plan
        step = self.step
        found = {
            "rows": plan.rows,
            "own": step.optimizer is not None,
            "choice": not step.updates,
            "optimizer": step.optimizer is not None or not step.updates,
            "rate": plan.rate is not None or not step.updates,
            "clears": step.clears,
            "draws": any(plan.units.draws(unit) for unit in self.roles.forward),
            "dtype": bool(self.graph.header.default_dtype),
            "unused": plan.unused,
            "device": any(moves_to_device(plan.units, some) for some in (plan.set_up_units, self.roles.construction)),
        }
        schedule = step.schedule.features if step.schedule is not None else set()
        return frozenset(name for name, holds in found.items() if holds) | schedule

    def _values(self) -> dict[str, str]:
        plan = self.plan
        header = self.graph.header
        stem = re.sub(r"[^\w.+ -]", "_", plan.stem, flags=re.ASCII)[:LONGEST_NAME]
        return {
            "stem": stem or "program",
            "inner": str(self._steps_of_epoch()),
            "steps": str(plan.count or DEFAULT_STEPS),
            "rate": plan.rate.text if plan.rate is not None else DEFAULT_RATE,
            "seed": str(int(header.seed or 0)),
            "dtype": header.default_dtype,
            "arguments": ", ".join(self.functions.step_arguments("parallel", self._places())),
        }

    def _steps_of_epoch(self) -> int:
        """How many steps an epoch has."""
        return self.plan.turns[0].count if self.plan.turns and self.plan.turns[0] else 1

    def _places(self) -> list[str]:
        """What the variables of the loops are in a step."""
        inner = self._steps_of_epoch()
        texts = ["step"] if len(self.plan.loops) < 2 else [f"step % {inner}", f"step // {inner}"]
        return [
            _variable_in_step(turns, text)
            for loop, turns, text in zip(self.plan.loops, self.plan.turns, texts, strict=False)
            if loop in self.plan.counted and turns is not None
        ]

    def _kept_apart(self) -> dict[Value, str]:
        """Other names for what the canvas calls like something in the functions around it."""
        plan = self.plan
        outside = (*plan.set_up_units, *plan.optimizer_units, *plan.scheduler_units, *self.step.updates)
        found: dict[Value, str] = {}
        for unit in dict.fromkeys(outside):  # in a fixed order: it decides which of two names gets the number
            for item in plan.units.members(unit):
                for k, name in enumerate(names_of(self.graph, item)):
                    if name in LOCALS:
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
            definition = self.graph.definitions[name]
            made_once = setup_of(definition)
            for node in definition.graph.nodes.values():
                if DOCUMENT_DEVICE in node.literals.values() and top_of(definition.graph, node.id) not in made_once:
                    raise NoForm(
                        f"'{title(definition.graph, node.id)}' makes a tensor inside the group '{name}', and a "
                        "training script cannot say there on which device. Make it outside and give it to the group."
                    )
        return definition_lines(self.graph, False, self.plan.stem, self.writer.imports).lines

    def _imports(self) -> list[str]:
        needed = self.writer.imports
        lines = ["import argparse", *(["import json"] if "schedule" in self.features else [])]
        lines += ["import math", "import os", "import signal", "import sys"]
        lines += ["from collections.abc import Iterable", "from pathlib import Path"]
        lines += ["from typing import NoReturn", ""]
        lines += ["import numpy as np"] if "np" in needed else []
        lines += ["import torch", "import torch.distributed as dist"]
        lines += ["import torch.nn.functional as F"] if "F" in needed else []
        lines += ["import torch.nn.utils.prune"] if "torch.nn.utils.prune" in needed else []
        lines.append(f"from safetensors import SafetensorError{', safe_open' if 'schedule' in self.features else ''}")
        lines.append("from safetensors.torch import load_file, save_file")
        lines.append("from torch import nn, optim" if "optim" in needed else "from torch import nn")
        return [*lines, "from torch.nn.parallel import DistributedDataParallel"]


def _refuse_clash(graph: Graph, lines: list[str]) -> None:
    """Refuse groups that are called as the script's own functions are.

    Raises:
        NoForm: one is.
    """
    names = [found[1] for line in lines if (found := re.match(r"(?:def|class) (\w+)", line))]
    twice = next((name for name in graph.definitions if names.count(name) > 1), "")
    if twice:
        raise NoForm(f"A training script has a function '{twice}' of its own. Rename the group '{twice}', then export.")


def _variable_in_step(turns: Turns, text: str) -> str:
    """What a loop's variable is in a step whose place in the loop is this text."""
    if turns.stride != 1:
        text = f"{turns.stride} * {text if text == 'step' else f'({text})'}"
    return f"{turns.start} + {text}" if turns.start else text


def _with_device(head: str) -> str:
    """The head of `__init__` that is given a device too."""
    return head.replace("(self", "(self, device", 1)
