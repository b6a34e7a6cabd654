"""Epochs: a script of a training over epochs of batches, with model, data, loss, loop and measures apart."""

from gradstudio.graph.model import Graph
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.allowed_calls import APART
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.part_printer import PartReferences
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.epochs.epoch_plan import EpochPlan
from gradstudio.program.forms.training.script_functions import FunctionWriter, signature
from gradstudio.program.forms.training.script_plan import DEFAULT_RATE, moves_to_device
from gradstudio.program.forms.training.script_writer import ScriptWriter, stem_words
from gradstudio.program.forms.training.switches.code_switches import NO_SWITCHES, CodeSwitches
from gradstudio.program.forms.training.texts.checkpoint_templates import CHECKPOINT, FILES, LOG
from gradstudio.program.forms.training.texts.epoch_templates import DATA, EPOCH, HEAD, MAIN, PROCESS, TRAIN
from gradstudio.program.forms.training.texts.script_templates import DEVICE, REFUSE, START, select_lines
from gradstudio.program.forms.training.texts.switch_templates import STOP
from gradstudio.program.printing.comment_lines import INDENT

_TENSOR = "torch.Tensor"
_LOADERS = "from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, Subset"


def write_epochs(graph: Graph, switches: CodeSwitches = NO_SWITCHES, *, stem: str) -> str:
    """A script that trains as the program does, and as its code said that was taken out.

    Raises:
        NoForm: it trains in another way.
    """
    return _EpochScript(EpochPlan(graph, stem), switches).text()


class _Functions(FunctionWriter):
    """Functions with the canvas's statements: those of every training script, the loss and the measures."""

    _plan: EpochPlan
    data_type = "tuple[DataLoader, ...]"

    def compute_loss(self) -> list[str]:
        """``compute_loss``; nothing where the model gives the loss itself."""
        plan = self._plan
        if not plan.epoch.loss_units:
            return []
        references = self._references("network", {})
        names = [references.name(value) for value in (*plan.returned, *plan.loss_inputs)]
        kept = [unit for unit in plan.epoch.loss_units if unit not in plan.roles.construction]
        lines = self._writer.statements(references, kept, 1, device=False, body=plan.step.body)
        network = [f"network: {plan.title}"] if any("network." in line for line in lines) else []
        return [
            *signature("compute_loss", [*network, *(f"{name}: {_TENSOR}" for name in names)], _TENSOR),
            f'{INDENT}"""How far the prediction is from the target."""',
            *lines,
            f"{INDENT}return {references.name(plan.step.loss)}",
        ]

    @property
    def loss_reads_model(self) -> bool:
        """Whether `compute_loss` is given the model."""
        return any("network:" in line for line in self.compute_loss()[:3])

    def measure(self) -> list[str]:
        """``measure``; nothing where the canvas measures nothing."""
        found = self._plan.epoch.evaluation
        if found is None:
            return []
        references = self._references("network", {})
        names = [references.name(value) for value in found.batch]
        rows = dict.fromkeys(found.weighted, f" * len({names[0]})")
        measures = [f'"{name}": {references.name(value)}{rows.get(name, "")}' for name, value in found.measures.items()]
        return [
            *signature("measure", [f"network: {self._plan.title}", "batch: tuple"], f"dict[str, {_TENSOR}]"),
            f'{INDENT}"""What is looked at of a batch that nobody learns from."""',
            f"{INDENT}{', '.join(names)}{',' if len(names) == 1 else ''} = batch",
            *self._writer.statements(references, found.units, 1, device=False, body=found.body),
            f"{INDENT}return {{{', '.join(measures)}}}",
        ]


class _EpochScript(ScriptWriter):
    """Writes one such script."""

    plan: EpochPlan
    functions: _Functions
    head, process = HEAD, PROCESS

    def __init__(self, plan: EpochPlan, switches: CodeSwitches) -> None:
        """Nothing is written yet.

        Raises:
            NoForm: it ends early by a figure that it does not measure.
        """
        self._switches, stop = switches, switches.stop
        measured = plan.epoch.evaluation.measures if plan.epoch.evaluation is not None else ()
        if stop is not None and stop.judged not in measured:
            raise NoForm(f"'{stop.judged}' is measured of no data that nobody learns from.")
        super().__init__(plan)

    def make_functions(self) -> _Functions:
        """The writer of the functions."""
        return _Functions(self.plan, self.writer, self.features, self.names)

    def parts(self) -> list[list[str]]:
        """Functions and texts behind the class."""
        functions = self.functions
        canvas = [functions.compute_loss(), functions.measure(), functions.set_up()]
        makers = [functions.make_optimizer(), functions.make_scheduler()]
        values = self.values()
        texts = (
            STOP if self._switches.stop is not None else "",
            TRAIN,
            DATA,
            EPOCH,
            CHECKPOINT,
            LOG,
            DEVICE,
            REFUSE,
            FILES,
            MAIN,
            START,
        )
        return [*canvas, *makers, *(select_lines(text, self.features, values) for text in texts)]

    def makes_data(self, group: str) -> bool:
        """Whether all it makes become rows of loaders: on the CPU, and brought to the device in batches."""
        key, graph, units = GROUP + group, self.graph, self.plan.units
        set_up = self.plan.set_up_units
        calls = {item for item, node in graph.nodes.items() if node.operator == key}
        inside = (node for made in graph.definitions.values() for node in made.graph.nodes.values())
        if graph.header.device != "cpu" or any(node.operator == key for node in inside):
            return False
        return calls <= {item for unit in set_up for item in units.members(unit)} and not moves_to_device(units, set_up)

    def find_features(self) -> frozenset[str]:
        """What the texts of the script ask of it."""
        step, epoch = self.plan.step, self.plan.epoch
        found = {
            "trains": epoch.trains,
            "evaluates": epoch.evaluates and epoch.evaluation is not None,
            "measured": epoch.evaluation is not None,
            "adds_up": epoch.evaluation is not None and epoch.evaluation.adds_up,
            "loss_apart": bool(epoch.loss_units),
            "optimizer": True,
            "rate": self.plan.rate is not None,
            "steps": step.schedule is not None and step.schedule.epoch_end is None,
        }
        found |= dict.fromkeys(self._switches.features, True)
        return self.common_features() | {name for name, holds in found.items() if holds}

    def values(self) -> dict[str, str]:
        """What stands for each ``<name>``."""
        plan, step, epoch, header = self.plan, self.plan.step, self.plan.epoch, self.graph.header
        names = {epoch.loader: "loader"}
        if epoch.evaluation is not None:
            names.setdefault(epoch.evaluation.loader, "test_loader")
        loaders = [names[value] for value in plan.data]
        loss = [*(["run.model"] if self.functions.loss_reads_model else []), *self._handed()]
        schedule = step.schedule
        assert step.optimizer is not None
        return {
            "stem": stem_words(plan.stem),
            **self._switches.values,
            "turn": "epoch",
            "every": "1",
            "title": plan.title,
            "more": str(2 * plan.epochs),
            "epochs": str(plan.epochs),
            "rate": plan.rate.text if plan.rate is not None else DEFAULT_RATE,
            "clip": epoch.clip or "0.0",
            "seed": str(int(header.seed or 0)),
            "dtype": header.default_dtype,
            "inputs": ", ".join(self._of_batch(value) for value in plan.roles.inputs),
            "arguments": ", ".join(loss),
            "loaders": ", ".join(loaders) + ("," if len(loaders) == 1 else ""),
            "loader": "loader",
            "test_loader": names[epoch.evaluation.loader] if epoch.evaluation is not None else "",
            "optimizer": self._name((step.optimizer, 0)),
            "scheduler": self._name((schedule.maker, 0)) if schedule is not None else "",
        }

    def _handed(self) -> list[str]:
        plan = self.plan
        given = ["prediction"] if len(plan.returned) == 1 else ["*prediction"]
        return [*given, *(self._of_batch(value) for value in plan.loss_inputs)]

    def _of_batch(self, value: Value) -> str:
        return f"batch[{self.plan.epoch.batch.index(value)}]"

    def _name(self, value: Value) -> str:
        """What the canvas calls a value."""
        references: PartReferences = self.plan.references.like({})
        return references.name(value)

    def imports(self) -> list[str]:
        """The lines at the top."""
        needed = self.writer.imports
        lines = ["import argparse", "import json", "import math", "import os", "import signal", "import sys"]
        lines += ["import time", "from pathlib import Path", "from typing import NamedTuple, NoReturn", ""]
        lines += ["import numpy as np"] if "np" in needed else []
        lines += ["import torch", "import torch.distributed as dist"]
        lines += ["import torch.nn.functional as F"] if "F" in needed else []
        lines += [f"import {module}" for module in sorted(APART) if module in needed]
        lines += ["from safetensors import SafetensorError, safe_open"]
        lines += ["from safetensors.torch import load_file, save_file", "from torch import nn, optim"]
        lines += ["from torch.nn.parallel import DistributedDataParallel"]
        return [*lines, _LOADERS]
