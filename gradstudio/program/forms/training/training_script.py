"""Train: a program as a training script, for one process or, under torchrun, for several."""

from functools import cached_property

from gradstudio.graph.model import Graph
from gradstudio.graph.text.allowed_calls import APART
from gradstudio.program.forms.training.script_functions import FunctionWriter
from gradstudio.program.forms.training.script_plan import DEFAULT_RATE
from gradstudio.program.forms.training.script_writer import ScriptWriter, stem_words
from gradstudio.program.forms.training.step_switches import BY_HAND, Repeated, refusal_lines
from gradstudio.program.forms.training.texts.script_templates import (
    BATCH,
    DEVICE,
    HEAD,
    MAIN,
    PROCESS,
    REFUSE,
    SAVE,
    START,
    TALK,
    TRAIN,
    select_lines,
)
from gradstudio.program.forms.training.texts.switch_templates import OPTIONS, switch_parts
from gradstudio.program.forms.training.training_plan import DEFAULT_STEPS, TrainingPlan


def write_steps(graph: Graph, *, stem: str) -> str:
    """A script that trains what the program trains, on the data that it has.

    Raises:
        NoForm: it has no loss, nothing to train, or steps that no checkpoint could go on from; says what to do.
    """
    return _StepScript(TrainingPlan(graph, stem)).text()


class _StepScript(ScriptWriter):
    """Writes a script that counts steps."""

    head, process = HEAD, PROCESS
    plan: TrainingPlan

    def make_functions(self) -> FunctionWriter:
        """The writer of the functions."""
        return FunctionWriter(self.plan, self.writer, self.features, self.names)

    def parts(self) -> list[list[str]]:
        """Functions and texts behind the class."""
        functions = self.functions
        canvas = [functions.set_up(), functions.make_optimizer(), functions.make_scheduler(), functions.train_step()]
        values = self.values()
        texts = [BATCH if "rows" in self.features else "", SAVE, DEVICE, REFUSE, TALK, TRAIN, MAIN, START]
        selected = (select_lines(text, self.features, values) for text in texts)
        return [*canvas, refusal_lines(self._why_not), *switch_parts(self.features), *selected]

    def find_features(self) -> frozenset[str]:
        """What the texts of the script ask of it."""
        plan = self.plan
        step = self.step
        found = {
            "rows": plan.rows,
            "own": step.optimizer is not None,
            "choice": not step.updates,
            "optimizer": step.optimizer is not None or not step.updates,
            "rate": plan.rate is not None or not step.updates,
            "clears": step.clears,
            "mixes": True,
            "compiles": True,
            "accumulates": not self._why_not["--accumulate"],
            "clips": step.optimizer is not None or not step.updates,
            "numbers": step.optimizer is not None or not step.updates,
            "refuses": any(self._why_not.values()),
            "draws": any(plan.units.draws(unit) for unit in self.roles.forward),
        }
        return self.common_features() | {name for name, holds in found.items() if holds}

    def values(self) -> dict[str, str]:
        """What stands for each ``<name>`` in its texts."""
        plan = self.plan
        header = self.graph.header
        arguments = self.functions.step_arguments("parallel", self._places())
        if "accumulates" in self.features:
            arguments[1] = "stepper"
        return {
            "stem": stem_words(plan.stem),
            "inner": str(self._steps_of_epoch()),
            "steps": str(plan.count or DEFAULT_STEPS),
            "rate": plan.rate.text if plan.rate is not None else DEFAULT_RATE,
            "seed": str(int(header.seed or 0)),
            "dtype": header.default_dtype,
            "arguments": ", ".join(arguments),
            "options": "\n".join(select_lines(OPTIONS, self.features, {})),
        }

    @cached_property
    def _why_not(self) -> dict[str, str]:
        """Of the options that depend on how it learns, why they are refused; "" where they are not."""
        step = self.step
        if not step.updates:
            return dict.fromkeys(("--accumulate", "--clip"), "")
        items = [item for unit in step.updates for item in step.units.members(unit)]
        repeated = Repeated(step.units, step.objects, [*items, *([step.backward] if step.backward else [])])
        by_hand = "" if step.optimizer is not None else BY_HAND
        return {"--accumulate": repeated.why_not_accumulate(step.forgets), "--clip": by_hand}

    def imports(self) -> list[str]:
        """The lines at the top."""
        needed = self.writer.imports
        lines = ["import argparse", *(["import json"] if "schedule" in self.features else [])]
        lines += ["import math", "import os", "import signal", "import sys"]
        lines += ["from collections.abc import Iterable", "from pathlib import Path"]
        lines += ["from typing import NoReturn", ""]
        lines += ["import numpy as np"] if "np" in needed else []
        lines += ["import torch", "import torch.distributed as dist"]
        lines += ["import torch.nn.functional as F"] if "F" in needed else []
        lines += [f"import {module}" for module in sorted(APART) if module in needed]
        lines.append(f"from safetensors import SafetensorError{', safe_open' if 'schedule' in self.features else ''}")
        lines.append("from safetensors.torch import load_file, save_file")
        lines.append("from torch import nn, optim" if "optim" in needed else "from torch import nn")
        return [*lines, "from torch.nn.parallel import DistributedDataParallel"]

    def _steps_of_epoch(self) -> int:
        """How many steps an epoch has."""
        return self.plan.turns[0].count if self.plan.turns and self.plan.turns[0] else 1

    def _places(self) -> list[str]:
        """What the variables of the loops are in a step."""
        inner = self._steps_of_epoch()
        texts = ["step"] if len(self.plan.loops) < 2 else [f"step % {inner}", f"step // {inner}"]
        return [
            turns.place(text)
            for loop, turns, text in zip(self.plan.loops, self.plan.turns, texts, strict=False)
            if loop in self.plan.counted and turns is not None
        ]
