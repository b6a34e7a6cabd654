"""Train: a program as a training script, for one process or, under torchrun, for several."""

import re
from collections.abc import Iterable, Sequence

from gradstudio.graph.groups.definitions import in_order, setup_of, top_of
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.module_class import ModuleWriter, trimmed
from gradstudio.program.forms.part_printer import PartBody, PartReferences
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.script_templates import (
    BATCH,
    DEVICE,
    HEAD,
    MAIN,
    PROCESS,
    SAVE,
    TALK,
    TRAIN,
    chosen,
)
from gradstudio.program.forms.training.training_plan import (
    DEFAULT_RATE,
    DEFAULT_STEPS,
    LOCALS,
    LONGEST_NAME,
    TrainingPlan,
)
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import definition_lines
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.pretty_printer import columns

_DATA = "tuple[torch.Tensor, ...]"
_SCHEDULER = "optim.lr_scheduler.LRScheduler"


def write_training(graph: Graph, *, stem: str) -> str:
    """A script that trains what the program trains, on the data that it has.

    Raises:
        NoForm: it has no loss, nothing to train, or steps that no checkpoint could go on from; says what to do.
    """
    return _Training(TrainingPlan(graph, stem)).script()


class _Training(ModuleWriter):
    """Writes the parts of one training script."""

    plan: TrainingPlan

    def __init__(self, plan: TrainingPlan) -> None:
        super().__init__(plan)
        self.step = plan.step
        self.names = {**plan.names, **self._kept_apart()}
        self.features = self._features()
        self.imports |= {"optim"} if "optimizer" in self.features else set()

    def script(self) -> str:
        """The whole text."""
        model, values = self._class(), self._values()
        functions = [self._set_up(), self._make_optimizer(), self._make_scheduler(), self._train_step()]
        texts = [BATCH if "rows" in self.features else "", SAVE, DEVICE, TALK, TRAIN, MAIN]
        constants, definitions = self._renamed_constants(), self._definitions()
        imports = self._imports()
        parts = [definitions, model, *functions, *(chosen(text, self.features, values) for text in texts)]
        top = [*chosen(HEAD, self.features, values), "", *imports, "", *chosen(PROCESS, self.features, values)]
        top += ["HERE = Path(__file__).parent"] if "Path" in self.imports else []
        lines = [*top, *(["", *constants] if constants else [])]
        for part in parts:
            lines += ["", "", *part] if part else []
        _refuse_clash(self.graph, lines)
        return "\n".join([*lines, ""])

    # ---------------------------------------------------------------- what is there

    def _features(self) -> frozenset[str]:
        plan, step = self.plan, self.step
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
            "device": plan.moves(plan.set_up_units) or plan.moves(list(self.roles.construction)),
        }
        schedule = step.schedule.features if step.schedule is not None else set()
        return frozenset(name for name, holds in found.items() if holds) | schedule

    def _values(self) -> dict[str, str]:
        plan, header = self.plan, self.graph.header
        return {
            "stem": re.sub(r"[^\w.+ -]", "_", plan.stem, flags=re.ASCII)[:LONGEST_NAME] or "program",
            "inner": str(self._steps_of_epoch()),
            "steps": str(plan.count or DEFAULT_STEPS),
            "rate": plan.rate.text if plan.rate is not None else DEFAULT_RATE,
            "seed": str(int(header.seed or 0)),
            "dtype": header.default_dtype,
            "arguments": ", ".join(self._arguments_of_step("parallel", self._places())),
        }

    def _steps_of_epoch(self) -> int:
        """How many steps an epoch has."""
        return self.plan.turns[0].count if self.plan.turns and self.plan.turns[0] else 1

    def _places(self) -> list[str]:
        """What the variables of the loops are in a step."""
        inner = self._steps_of_epoch()
        texts = ["step"] if len(self.plan.loops) < 2 else [f"step % {inner}", f"step // {inner}"]
        found = []
        for loop, turns, text in zip(self.plan.loops, self.plan.turns, texts, strict=False):
            if loop in self.plan.counted and turns is not None:
                inside = text if text == "step" or turns.stride == 1 else f"({text})"
                counted = inside if turns.stride == 1 else f"{turns.stride} * {inside}"
                found.append(f"{turns.start} + {counted}" if turns.start else counted)
        return found

    def _arguments_of_step(self, model: str, places: list[str]) -> list[str]:
        by_hand = "rate" in self.features and "optimizer" not in self.features
        return [
            model,
            *(["optimizer"] if "optimizer" in self.features else []),
            *(["scheduler"] if self.features & {"schedule", "by_epoch"} == {"schedule"} else []),
            "batch" if "rows" in self.features or model == "model" else "data",
            *(["lr" if model == "model" else "args.lr"] if by_hand else []),
            *places,
        ]

    def _kept_apart(self) -> dict[Value, str]:
        """Other names for what the canvas calls like something in the functions around it."""
        found: dict[Value, str] = {}
        outside = {*self.plan.set_up_units, *self.plan.optimizer_units, *self.plan.scheduler_units, *self.step.updates}
        for item in (item for unit in outside for item in self.plan.units.members(unit)):
            node, block = self.graph.nodes.get(item), self.graph.blocks.get(item)
            bound = node.names if node is not None else (block.variable, *block.carried) if block is not None else ()
            for k, name in enumerate(bound):
                if name in LOCALS:
                    found[item, k] = self.plan.references.fresh(f"{name}_")
        return found

    # ---------------------------------------------------------------- the class

    def _class(self) -> list[str]:
        self.device = self.plan.moves(list(self.roles.construction))
        construction = self._construction()
        if self.device:
            construction = [_with_device(construction[0]), *construction[1:]]
        self.device = self._names_device(self.roles.forward)
        forward = self._forward()
        if self.device:
            end = next(k for k, line in enumerate(forward) if line.endswith(":"))
            forward.insert(end + 1, f"{INDENT * 2}device = next(self.parameters()).device")
        return [*self._opening(), f"class {self.plan.title}(nn.Module):", *construction, "", *forward]

    def _definitions(self) -> list[str]:
        """The groups; what their layers hold is moved with the class, what else they make could not be."""
        for name in in_order(self.graph):
            definition = self.graph.definitions[name]
            made_once = setup_of(definition)
            for node in definition.graph.nodes.values():
                if DOCUMENT_DEVICE in node.literals.values() and top_of(definition.graph, node.id) not in made_once:
                    raise NoForm(
                        f"'{title(definition.graph, node.id)}' makes a tensor inside the group '{name}', and a "
                        "training script cannot say there on which device. Make it outside and give it to the group."
                    )
        return definition_lines(self.graph, False, self.plan.stem, self.imports).lines

    def _names_device(self, units: Iterable[ItemId]) -> bool:
        nodes = (self.graph.nodes.get(item) for unit in units for item in self.plan.units.members(unit))
        return any(node is not None and DOCUMENT_DEVICE in node.literals.values() for node in nodes)

    def _renamed_constants(self) -> list[str]:
        return self._body(self.plan.references.like(self.names), self.roles.constants, 0)

    # ---------------------------------------------------------------- set_up

    def _set_up(self) -> list[str]:
        plan, units = self.plan, self.plan.set_up_units
        references = self._references("model")
        made_here = plan.attributes if plan.handed else ()
        unread = plan.unread(units, [*plan.data, *self.roles.given, *made_here])
        references.spelled.update({v: text for v, text in unread.items() if v not in plan.attributes})
        body = self._written(references, "device" in self.features)
        given = plan.attributes if plan.handed else self.roles.given
        arguments = [references.name(value) for value in given]
        arguments += ["device"] if plan.moves(list(self.roles.construction)) and not plan.handed else []
        made = f"{plan.title}({', '.join(arguments)})"
        site = self._site(units)
        if site is not None:
            body.before[site] = [f"model = {made}"]
        body.choose(units)
        body.write(ROOT, 1)
        lines = trimmed(body.lines)
        values = [references.name(value) for value in plan.data]
        data = f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"
        last = _wrapped(f"return {'model' if site is not None else made}, {data}", 1)
        head = signature(
            "set_up", ["device: torch.device"] if "device" in self.features else [], f"tuple[{plan.title}, {_DATA}]"
        )
        text = "The model and its data, made in the order of the canvas."
        self.imports |= body.imports
        return [*head, f'{INDENT}"""{text}"""', *lines, *last]

    def _site(self, units: Sequence[ItemId]) -> ItemId | None:
        """The statement before which the model is made; None when it is made last."""
        start = self.plan.units.position[self.plan.site]
        return next((unit for unit in units if self.plan.units.position[unit] >= start), None)

    # ---------------------------------------------------------------- the step

    def _make_optimizer(self) -> list[str]:
        plan, node = self.plan, self.step.optimizer
        if node is None:
            return []
        rate = {plan.rate.value: "lr"} if plan.rate is not None else {}
        lines = self._making(node, plan.optimizer_units, rate)
        arguments = [f"model: {plan.title}", *(["lr: float"] if rate else [])]
        head = signature("make_optimizer", arguments, "optim.Optimizer")
        return [*head, f'{INDENT}"""The optimizer of the canvas."""', *lines]

    def _make_scheduler(self) -> list[str]:
        schedule, optimizer = self.step.schedule, self.step.optimizer
        if schedule is None or optimizer is None:
            return []
        lines = self._making(schedule.maker, self.plan.scheduler_units, {(optimizer, 0): "optimizer"})
        head = signature("make_scheduler", ["optimizer: optim.Optimizer"], _SCHEDULER)
        return [*head, f'{INDENT}"""How the canvas changes the learning rate."""', *lines]

    def _making(self, node: ItemId, units: list[ItemId], own: dict[Value, str]) -> list[str]:
        """The body of a function that returns what a node makes."""
        body = self._written(self._references("model", own), device=False)
        printed = _value(body, node)
        body.instead[node] = [f"return {printed}"]
        body.choose(units)
        body.write(ROOT, 1)
        self.imports |= body.imports
        return trimmed(body.lines)

    def _train_step(self) -> list[str]:
        types = {"model": "nn.Module", "optimizer": "optim.Optimizer", "batch": _DATA, "lr": "float"}
        types["scheduler"] = _SCHEDULER
        names = self._arguments_of_step("model", [self._variable(loop) for loop in self.plan.counted])
        arguments = [f"{name}: {types.get(name, 'int')}" for name in names]
        lines = self._updates() if self.step.updates else self._plain_step()
        if any("network." in line for line in lines if not line.lstrip().startswith("#")):
            opening = "network = model.module if isinstance(model, DistributedDataParallel) else model"
            lines = [*_wrapped(opening, 1), *lines]
        return [
            *signature("train_step", arguments, "torch.Tensor"),
            f'{INDENT}"""Learn from one batch; the loss before that."""',
            *lines,
            f"{INDENT}return loss.detach()",
        ]

    def _variable(self, loop: ItemId) -> str:
        name = self.plan.references.variable(loop)
        return f"{name}_" if name in LOCALS else name

    def _forward_call(self) -> str:
        arguments = ["*batch"] if self.plan.data else []
        arguments += [self._variable(value[0]) for value in self.roles.inputs if value[0] in self.plan.loops]
        return f"loss = model({', '.join(arguments)})"

    def _plain_step(self) -> list[str]:
        lines = (self._forward_call(), "optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
        return [INDENT + line for line in lines]

    def _updates(self) -> list[str]:
        """The statements of the canvas, with the call of the model in place of what computes the loss."""
        step, plan = self.step, self.plan
        own: dict[Value, str] = {step.loss: "loss"}
        if plan.rate is not None and step.optimizer is None:
            own[plan.rate.value] = "lr"
        if step.optimizer is not None:
            own[step.optimizer, 0] = "optimizer"
        if step.schedule is not None:
            own[step.schedule.maker, 0] = "scheduler"
        own |= {(loop, 0): self._variable(loop) for loop in plan.loops}
        body = self._written(self._references("network", own), device=False)
        body.instead[self.roles.forward[-1]] = [self._forward_call()]
        if step.backward is not None:
            body.instead[step.backward] = ["loss.backward()"]
        for unit in step.schedule.by_loss if step.schedule is not None else ():
            body.instead[unit] = ["scheduler.step(average(loss.detach().clone()))"]
        numbers = self._numbers(own)
        if step.forgets:
            owner = "optimizer" if step.optimizer is not None else "model"
            body.before[self.roles.forward[-1]] = [f"{owner}.zero_grad()"]
        kept = [*step.updates, *numbers]
        body.references.spelled.update({v: text for v, text in plan.unread(kept, own).items() if v not in own})
        body.choose(kept)
        if numbers:
            body.write(ROOT, 1)
        if step.body != ROOT or not numbers:
            body.write(step.body, 1)
        self.imports |= body.imports
        return trimmed(body.lines)

    def _numbers(self, own: dict[Value, str]) -> list[ItemId]:
        """What the updates read of the set-up beside the model: numbers, which stand in the step."""
        step, plan = self.step, self.plan
        known = {*own, *plan.attributes}
        free = [u for u in step.set_up if u not in {*self.roles.construction, *self.roles.constants}]
        read = {v for unit in step.updates for v in plan.units.reads(unit) if v not in known}
        found = step.closed((u for v in read if (u := plan.units.unit(v[0], ROOT)) is not None), free, ROOT)
        return [unit for unit in found if (unit, 0) not in own]

    # ---------------------------------------------------------------- parts

    def _references(self, owner: str, own: dict[Value, str] | None = None) -> PartReferences:
        """The names outside the class, where the model has this name."""
        plan = self.plan
        if plan.handed and owner == "model" and own is None:
            unnamed = {v: n for v, n in plan.attributes.items() if not plan.analysis.soundness.name(v)}
            return plan.references.like({**self.names, **unnamed}, plan.wrapped)
        held = {value: f"{owner}.{name}" for value, name in plan.attributes.items()}
        return plan.references.like({**self.names, **held, **(own or {})})

    def _written(self, references: PartReferences, device: bool) -> PartBody:
        self.device = device
        body = self._part(references)
        body.silent.update(self.first)
        return body

    def _imports(self) -> list[str]:
        needed = self.imports
        lines = ["import argparse", *(["import json"] if "schedule" in self.features else [])]
        lines += ["import math", "import os", "import signal", "import sys"]
        lines += ["from collections.abc import Iterable", "from pathlib import Path"]
        lines += ["from typing import NoReturn", ""]
        lines += ["import numpy as np"] if "np" in needed else []
        lines += ["import torch", "import torch.distributed as dist"]
        lines += ["import torch.nn.functional as F"] if "F" in needed else []
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


def signature(name: str, arguments: Sequence[str], result: str) -> list[str]:
    """The head of a function, broken as `ruff format` breaks it."""
    inner = ", ".join(arguments)
    whole = f"def {name}({inner}) -> {result}:"
    if columns(whole) <= WIDTH or not arguments:
        return [whole]
    if columns(INDENT + inner) <= WIDTH and len(arguments) > 1:
        return [f"def {name}(", INDENT + inner, f") -> {result}:"]
    return [f"def {name}(", *(f"{INDENT}{one}," for one in arguments), f") -> {result}:"]


def _wrapped(text: str, depth: int) -> list[str]:
    indent = len(INDENT) * depth
    return [INDENT * depth + text] if indent + columns(text) <= WIDTH else list(wrap(text, indent).lines)


def _value(body: PartBody, node: ItemId) -> str:
    """A node's expression."""
    line = Line()
    body.printer.value(line, node)
    return line.text


def _with_device(head: str) -> str:
    """The head of `__init__` that is given a device too."""
    return head.replace("(self", "(self, device", 1)
