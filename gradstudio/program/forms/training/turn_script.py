"""Turns: a training script that keeps the loop of a canvas as it stands, whatever it does to learn.

What is set up becomes the attributes of a class, and the loop's body its method. A checkpoint keeps what learns:
modules, leaves, optimizers, schedules and scalers, under the names of the canvas.
"""

from collections.abc import Iterator, Sequence

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import group_of
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.recipes.grouping.ungrouping import ungroup
from gradstudio.graph.text.allowed_calls import APART
from gradstudio.graph.text.code_records import CODE
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_writer import trimmed
from gradstudio.program.forms.part_printer import PartBody, PartReferences
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.distributed_training import joins_processes
from gradstudio.program.forms.training.learning_rate import with_rate_of
from gradstudio.program.forms.training.loop_turns import Turns, turns_of
from gradstudio.program.forms.training.object_aliases import Objects
from gradstudio.program.forms.training.rate_schedule import CATEGORY
from gradstudio.program.forms.training.scalar_values import is_one_number
from gradstudio.program.forms.training.script_writer import stem_words
from gradstudio.program.forms.training.step_switches import BY_HAND, TENSORS, Repeated, refusal_lines
from gradstudio.program.forms.training.switches.code_switches import NO_SWITCHES, CodeSwitches
from gradstudio.program.forms.training.texts.checkpoint_templates import CHECKPOINT, FILES, LOG
from gradstudio.program.forms.training.texts.script_templates import REFUSE, select_lines
from gradstudio.program.forms.training.texts.switch_templates import OPTIONS, STOP, switch_parts
from gradstudio.program.forms.training.texts.turn_templates import HEAD, MAIN, PROCESS
from gradstudio.program.forms.training.training_step import NO_CHECKPOINT
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import definition_lines
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.pretty_printer import columns
from gradstudio.program.write import header_lines, needs_device

RATES = "the canvas says no single learning rate"
SEVERAL_OPTIMIZERS = "the canvas has more than one optimizer"
_OWN = frozenset({"turn", "args"})
"""What the class itself calls so."""
SAVES = 20
"""So many checkpoints are saved in a training, unless the command line says otherwise."""
_SCALER = "GradScaler"
_EFFECTS = {Effect.BACKWARD, Effect.OPTIMIZER}


class NoLoop(NoForm):
    """There is no loop that trains."""


def write_turns(graph: Graph, switches: CodeSwitches = NO_SWITCHES, *, stem: str) -> str:
    """A script that trains as the program does, and as its code said that was taken out.

    Raises:
        NoForm: there is no loop that trains, or what it changes is more than a checkpoint keeps.
    """
    return _TurnScript(_with_its_loop(graph), stem, switches).text()


def _with_its_loop(graph: Graph) -> Graph:
    """The graph, in which a group that holds the loop that trains has given its statements back."""
    twin = graph
    for _ in range(len(graph.definitions)):
        call = next((item for item in twin.bodies[ROOT] if _calls_a_training(twin, item)), None)
        if call is None:
            return twin
        try:
            edits = ungroup(twin, call)
        except Refused as refused:
            raise NoForm(f"'{title(twin, call)}' holds the loop that trains. {refused}") from refused
        twin = twin.copy()
        apply_all(twin, edits)
    return twin


def _calls_a_training(graph: Graph, item: ItemId) -> bool:
    """Whether a node calls a group with a backward in it."""
    definition = graph.definitions.get(group_of(graph, item))
    if definition is None or definition.is_module:
        return False
    operators = analyse(definition.graph).validity.operators.values()
    return any(Effect.BACKWARD in operator.effects for operator in operators)


class _TurnScript:
    """Writes one such script."""

    def __init__(self, graph: Graph, stem: str, switches: CodeSwitches) -> None:
        self.stem, self._code = stem, switches
        self._look_at(graph)
        graph, self.rate = with_rate_of(graph, self._rate_ports())
        self._look_at(graph)
        units = self.units.of(ROOT)
        self.set_up = units[: units.index(self.loop)]
        self.turns = self._find_turns()
        self._refuse_what_is_lost()
        if switches.stop is not None and switches.stop.judged not in self._measures():
            raise NoForm(f"'{switches.stop.judged}', which the training ends early by, is not one number of each turn.")
        self.attributes = self._find_attributes()
        inside = Repeated(self.units, self.objects, self._members([self.loop]))
        self.optimizers = inside.optimizers()
        self.steps_in = inside.loop_of_step()
        self.forwards, why_not_mix = inside.forwards()
        has_module = any(self.objects.makes(value[0], Family.MODULE) for value in self.attributes)
        self.why_not = {
            "--lr": self._why_no_rate(),
            "--amp": why_not_mix,
            "--accumulate": self._why_not_accumulate(inside),
            "--clip": "" if self.optimizers else BY_HAND,
            "--compile": "" if has_module else TENSORS,
        }

    def _look_at(self, graph: Graph) -> None:
        self.graph = graph
        self.analysis = analyse(graph)
        self.units = Units(self.analysis)
        self.objects = Objects(self.units)
        self.loop = self._find_loop()

    def _rate_ports(self) -> list[tuple[ItemId, str]]:
        """Where optimizers of the set-up are given their rate."""
        inside = self._members([self.loop])
        made = [item for item in self.graph.nodes if self.objects.makes(item, Family.OPTIMIZER)]
        return [(item, "lr") for item in made if item not in inside]

    def _why_no_rate(self) -> str:
        if self.rate is not None:
            return ""
        return RATES if self.optimizers else BY_HAND

    def _why_not_accumulate(self, inside: Repeated) -> str:
        """As `Repeated` says; and the one optimizer has to have a name that it goes by."""
        if len(self.optimizers) > 1:
            return SEVERAL_OPTIMIZERS
        is_named = all(value in self.attributes for value in self.optimizers)
        return inside.why_not_accumulate() or ("" if is_named and self.optimizers else BY_HAND)

    def text(self) -> str:
        """The whole script."""
        imports = {"nn", "optim", "torch"}
        device = needs_device(self.analysis)
        definitions = definition_lines(self.graph, device, self.stem, imports).lines
        training = self._class(device, imports)
        features = {"alone", "gradients", *(["device"] if device else [])}
        features |= {"dtype"} if self.graph.header.default_dtype else set()
        features |= {"joins"} if joins_processes(self.graph) else set()
        features |= self._switches() | self._code.features
        values = self._values(device)
        values["options"] = "\n".join(select_lines(OPTIONS, features, values))
        texts = (STOP if self._code.stop is not None else "", CHECKPOINT, LOG, REFUSE, FILES, MAIN)
        lines = [*select_lines(HEAD, features, values), "", *_imports(imports), ""]
        lines += select_lines(PROCESS, features, values)
        selected = (select_lines(text, features, values) for text in texts)
        switches = [refusal_lines(self.why_not), *switch_parts(features)]
        for part in (definitions, training, *switches, *selected):
            lines += ["", "", *part] if part else []
        return "\n".join([*lines, ""])

    # ---------------------------------------------------------------- what the program is

    def _find_loop(self) -> ItemId:
        """The loop of the program that holds a backward."""
        for item, operator in self.analysis.validity.operators.items():
            if Effect.BACKWARD in operator.effects and self.analysis.validity.is_live(item):
                unit = self.units.unit(item, ROOT)
                if unit is not None and unit in self.graph.blocks and self.graph.blocks[unit].kind == "for":
                    return unit
        raise NoLoop("There is no loop that trains. Put the loss into one (Add training, in its menu).")

    def _find_turns(self) -> Turns:
        turns = turns_of(self.units, self.loop)
        if turns is None:
            words = "is not in the text. Put it into a loop over range(n)."
            raise NoForm(f"How often '{title(self.graph, self.loop)}' turns {words}")
        return turns

    def _members(self, units: list[ItemId]) -> set[ItemId]:
        return {item for unit in units for item in self.units.members(unit)}

    def _refuse_what_is_lost(self) -> None:
        """What goes from turn to turn, and is nothing that a checkpoint keeps.

        Raises:
            NoForm: there is something.
        """
        carried = self.graph.blocks[self.loop].carried
        if carried:
            raise NoForm(
                f"'{carried[0]}' goes from turn to turn without being a parameter, so a checkpoint does not hold it. "
                "Change a parameter in place (W -= ...), or take an optimizer that keeps it."
            )
        made, inside = self._members(self.set_up), self._members([self.loop])
        for item in (*made, *inside):
            node = self.graph.nodes.get(item)
            if node is not None and node.operator == CODE:
                raise NoForm(f"'{title(self.graph, item)}' is Python that is not drawn. A training script draws all.")
            if node is not None and node.operator in NO_CHECKPOINT:
                raise NoForm(f"What '{title(self.graph, item)}' remembers cannot be kept in a checkpoint of tensors.")
        for item in sorted(inside, key=self.units.position.__getitem__):
            self._refuse_changes(item, made)

    def _refuse_changes(self, item: ItemId, made: set[ItemId]) -> None:
        operator = self.units.operator(item)
        if operator is None:
            return
        for value in self.objects.targets(item, operator):
            for found in self.objects.origins(value):
                if found[0] in made and not self._is_kept(found) and not self._only_collects(item):
                    raise NoForm(
                        f"Each turn changes '{title(self.graph, found[0])}', which is no parameter, so a checkpoint "
                        "does not hold it. Take a module or an optimizer that keeps it, such as SGD with momentum."
                    )

    def _only_collects(self, item: ItemId) -> bool:
        return self.objects.collects(self.units.statement(item))

    def _is_kept(self, value: Value) -> bool:
        """Whether a checkpoint keeps an object."""
        operator = self.units.operator(value[0])
        if self.objects.is_model(value):
            return True
        return operator is not None and (operator.category == CATEGORY or operator.word == _SCALER)

    # ---------------------------------------------------------------- the class

    def _find_attributes(self) -> dict[Value, str]:
        """Of the set-up what the loop reads, and what a checkpoint keeps."""
        made = self._members(self.set_up)
        name = self.analysis.validity.name
        wanted = {value for value in self.units.reads(self.loop) if value[0] in made}
        wanted |= {(item, 0) for item in made if self._is_kept((item, 0)) and name((item, 0))}
        own = PartReferences(self.analysis, self.analysis.nested)
        order = sorted(wanted, key=lambda value: (self.units.position[value[0]], value[1]))
        found: dict[Value, str] = {}
        for value in order:
            text = own.name(value)
            found[value] = f"self.{text}_" if text in _OWN else f"self.{text}"
        if self.rate is not None:
            found[self.rate.value] = "self.args.lr"
        return found

    def _switches(self) -> set[str]:
        """Features: the options that the script takes."""
        taken = {option for option, why in self.why_not.items() if not why}
        words = {"--lr": "rate", "--amp": "mixes", "--accumulate": "accumulates", "--clip": "clips"}
        found = {word for option, word in (words | {"--compile": "compiles"}).items() if option in taken}
        found |= {"refuses"} if len(taken) < len(self.why_not) else set()
        found |= {"numbers"} if found & {"rate", "clips"} else set()
        found |= {"reads"} if found & {"rate", "mixes"} else set()
        return found | ({"paced"} if "accumulates" in found and self.steps_in == self.loop else set())

    def _class(self, device: bool, imports: set[str]) -> list[str]:
        variable = self.graph.blocks[self.loop].variable
        argument = f", {variable}: int" if variable else ""
        head = f"{INDENT}def turn(self{argument}) -> dict[str, torch.Tensor]:"
        measures = ", ".join(f'"{name}": {name}' for name in self._measures())
        return [
            "class Training:",
            f'{INDENT}"""What the canvas sets up, and one turn of its loop."""',
            "",
            f"{INDENT}def __init__(self, args: argparse.Namespace) -> None:",
            f"{INDENT * 2}self.args = args",
            *self._written(self.set_up, ROOT, device, imports),
            "",
            head,
            *self._written(self.units.of(BodyId(self.loop)), BodyId(self.loop), device, imports),
            *_wrapped(f"return {{{measures}}}"),
        ]

    def _written(self, units: list[ItemId], body: BodyId, device: bool, imports: set[str]) -> list[str]:
        references = PartReferences(self.analysis, self.analysis.nested).like(self.attributes)
        part = _MixedBody(references, device, self.stem, self.units)
        part.forwards = self.forwards
        part.kind = "device.type" if device else '"cpu"'
        if not self.why_not["--accumulate"]:
            part.finishes = self.steps_in
            part.finish = f"{self.attributes[self.optimizers[0]]}.finish()"
        part.choose(units, [self.rate.value[0]] if self.rate is not None else ())
        part.write(body, 2)
        imports |= part.imports
        return trimmed(part.lines)

    def _measures(self) -> Iterator[str]:
        """The names of single numbers that a turn surely computes."""
        seen = set()
        for item in sorted(self._members([self.loop]), key=self.units.position.__getitem__):
            node = self.graph.nodes.get(item)
            operator = self.units.operator(item)
            is_tensor = operator is not None and operator.results and operator.results[0].family is Family.TENSOR
            if node is None or len(node.names) != 1 or node.names[0] in seen or not is_tensor:
                continue
            around = [self.graph.blocks[ItemId(one)] for one in self.units.scopes(item) if one != ROOT]
            if not any(block.kind == "if" for block in around) and is_one_number(self.units, (item, 0)):
                seen.add(node.names[0])
                yield node.names[0]

    # ---------------------------------------------------------------- what is around it

    def _values(self, device: bool) -> dict[str, str]:
        header, stem = self.graph.header, stem_words(self.stem)
        variable = self.graph.blocks[self.loop].variable
        turn = "epoch" if variable == "epoch" or not self._is_flat() else "step"
        lines = header_lines(self.graph, device, set())
        return {
            **self._code.values,
            "stem": stem,
            "turn": turn,
            "more": str(2 * self.turns.count),
            "turns": str(self.turns.count),
            "every": str(max(1, self.turns.count // SAVES)),
            "place": self.turns.place(turn) if variable else "",
            "seed": str(int(header.seed or 0)),
            "dtype": header.default_dtype,
            "rate": self.rate.text if self.rate is not None else "",
            "optimizer": self._optimizer(),
            "device": next((line for line in lines if line.startswith("device = ")), ""),
        }

    def _optimizer(self) -> str:
        """What the one optimizer is called in the loop around the turns; "" where there are several."""
        name = self.attributes.get(self.optimizers[0], "") if len(self.optimizers) == 1 else ""
        return name.replace("self.", "training.", 1)

    def _is_flat(self) -> bool:
        """Whether no other loop is inside of the one that trains."""
        inside = self._members([self.loop]) - {self.loop}
        return not any(item in self.graph.blocks and self.graph.blocks[item].kind == "for" for item in inside)


class _MixedBody(PartBody):
    """Writes some statements under autocast, which an option switches on.

    Attributes:
        forwards: statements that are under it together.
        kind: the Python text of the kind of device.
        finish: the line behind the loop `finishes`.
    """

    forwards: Sequence[frozenset[ItemId]] = ()
    kind: str
    finishes: ItemId | None = None
    finish = ""
    _begun: frozenset[ItemId] = frozenset()

    def item(self, item: ItemId, depth: int) -> bool:
        """Write an item, deeper where it is under autocast."""
        forward = next((one for one in self.forwards if item in one), None)
        if forward is not None and forward != self._begun:
            self._begun = forward
            self.put(f"with torch.autocast({self.kind}, torch.bfloat16, enabled=self.args.amp):", depth)
        is_written = super().item(item, depth + 1 if forward is not None else depth)
        if item == self.finishes:
            self.put(self.finish, depth)
        return is_written


def _wrapped(text: str) -> list[str]:
    indent = len(INDENT) * 2
    return [INDENT * 2 + text] if indent + columns(text) <= WIDTH else list(wrap(text, indent).lines)


def _imports(needed: set[str]) -> list[str]:
    """The lines at the top."""
    lines = ["import argparse", "import json", *(["import math"] if "math" in needed else [])]
    lines += ["import os", "import signal", "import sys", "import time"]
    lines += ["from pathlib import Path", "from typing import NoReturn", ""]
    lines += ["import numpy as np"] if "np" in needed else []
    lines += ["import torch", *(["import torch.nn.functional as F"] if "F" in needed else [])]
    lines += [f"import {module}" for module in sorted(APART) if module in needed]
    lines += ["from safetensors import SafetensorError, safe_open"]
    return [*lines, "from safetensors.torch import load_file, save_file", "from torch import nn, optim"]
