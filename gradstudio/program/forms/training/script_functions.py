"""Functions of a training script that hold the canvas's statements: set-up, optimizer, scheduler, one step."""

from collections.abc import Mapping, Sequence, Set

from gradstudio.graph.model import ROOT, ItemId
from gradstudio.program.forms.class_writer import ClassWriter
from gradstudio.program.forms.part_printer import PartBody, PartReferences
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.script_plan import ScriptPlan, moves_to_device
from gradstudio.program.forms.training.training_plan import LOCALS
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.pretty_printer import columns

_DATA = "tuple[torch.Tensor, ...]"
_SCHEDULER = "optim.lr_scheduler.LRScheduler"


class FunctionWriter:
    """Writes these functions, each as its lines."""

    data_type = _DATA

    def __init__(self, plan: ScriptPlan, writer: ClassWriter, features: Set[str], names: Mapping[Value, str]) -> None:
        """Nothing is written yet.

        Args:
            plan: what was decided of the script.
            writer: writes the statements; what they need is added to its imports.
            features: those of the script.
            names: what values are called that the script calls otherwise than the canvas.
        """
        self._plan = plan
        self._writer = writer
        self._features = features
        self._names = names

    def set_up(self) -> list[str]:
        """``set_up``: the model and its data."""
        plan = self._plan
        units = plan.set_up_units
        references = self._references("model")
        made_here = plan.attributes if plan.handed else ()
        unread = plan.unread(units, [*plan.data, *plan.roles.given, *made_here])
        references.spelled.update({v: text for v, text in unread.items() if v not in plan.attributes})
        part = self._writer.part(references, "device" in self._features)
        made = self._model(references)
        site = self._site(units)
        if site is not None:
            part.before[site] = [f"model = {made}"]
        part.choose(units)
        lines = self._writer.written(part, 1, ROOT)
        values = [references.name(value) for value in plan.data]
        data = f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"
        model = made if site is None else "model"
        arguments = ["device: torch.device"] if "device" in self._features else []
        return [
            *signature("set_up", arguments, f"tuple[{plan.title}, {self.data_type}]"),
            f'{INDENT}"""The model and its data, made in the order of the canvas."""',
            *lines,
            *_wrapped(f"return {model}, {data}", 1),
        ]

    def make_optimizer(self) -> list[str]:
        """``make_optimizer``; nothing where the canvas has none."""
        plan = self._plan
        node = plan.step.optimizer
        if node is None:
            return []
        rate = {plan.rate.value: "lr"} if plan.rate is not None else {}
        lines = self._making(node, plan.optimizer_units, rate)
        arguments = [f"model: {plan.title}", *(["lr: float"] if rate else [])]
        head = signature("make_optimizer", arguments, "optim.Optimizer")
        return [*head, f'{INDENT}"""The optimizer of the canvas."""', *lines]

    def make_scheduler(self) -> list[str]:
        """``make_scheduler``; nothing where the canvas has none."""
        schedule = self._plan.step.schedule
        optimizer = self._plan.step.optimizer
        if schedule is None or optimizer is None:
            return []
        lines = self._making(schedule.maker, self._plan.scheduler_units, {(optimizer, 0): "optimizer"})
        head = signature("make_scheduler", ["optimizer: optim.Optimizer"], _SCHEDULER)
        return [*head, f'{INDENT}"""How the canvas changes the learning rate."""', *lines]

    def train_step(self) -> list[str]:
        """``train_step``: one step of the program's loop, or the usual one."""
        types = {
            "model": "nn.Module",
            "optimizer": "optim.Optimizer",
            "scheduler": _SCHEDULER,
            "batch": _DATA,
            "lr": "float",
        }
        names = self.step_arguments("model", [self._variable(loop) for loop in self._plan.counted])
        arguments = [f"{name}: {types.get(name, 'int')}" for name in names]
        lines = self._updates() if self._plan.step.updates else self._usual_step()
        if any("network." in line for line in lines if not line.lstrip().startswith("#")):
            opening = "network = model.module if isinstance(model, DistributedDataParallel) else model"
            lines = [*_wrapped(opening, 1), *lines]
        return [
            *signature("train_step", arguments, "torch.Tensor"),
            f'{INDENT}"""Learn from one batch; the loss before that."""',
            *lines,
            f"{INDENT}return loss.detach()",
        ]

    def step_arguments(self, model: str, places: list[str]) -> list[str]:
        """What `train_step` takes, as its parameters (`model` is "model") or as the training loop gives it.

        Args:
            model: what the model is called there.
            places: what the variables of the program's loops are there.
        """
        is_head = model == "model"
        features = self._features
        arguments = [model]
        if "optimizer" in features:
            arguments.append("optimizer")
        if "schedule" in features and "by_epoch" not in features:
            arguments.append("scheduler")
        arguments.append("batch" if "rows" in features or is_head else "data")
        if "rate" in features and "optimizer" not in features:
            arguments.append("lr" if is_head else "args.lr")
        return [*arguments, *places]

    def _model(self, references: PartReferences) -> str:
        """The call that makes the model."""
        plan = self._plan
        given = plan.attributes if plan.handed else plan.roles.given
        arguments = [references.name(value) for value in given]
        if moves_to_device(plan.units, plan.roles.construction) and not plan.handed:
            arguments.append("device")
        return f"{plan.title}({', '.join(arguments)})"

    def _site(self, units: Sequence[ItemId]) -> ItemId | None:
        """The statement before which the model is made; None when it is made last."""
        start = self._plan.units.position[self._plan.site]
        return next((unit for unit in units if self._plan.units.position[unit] >= start), None)

    def _making(self, node: ItemId, units: list[ItemId], own: dict[Value, str]) -> list[str]:
        """The body of a function that returns what a node makes."""
        part = self._writer.part(self._references("model", own), device=False)
        part.instead[node] = [f"return {_value(part, node)}"]
        part.choose(units)
        return self._writer.written(part, 1, ROOT)

    def _variable(self, loop: ItemId) -> str:
        name = self._plan.references.variable(loop)
        return f"{name}_" if name in LOCALS else name

    def _forward_call(self) -> str:
        arguments = ["*batch"] if self._plan.data else []
        arguments += [self._variable(value[0]) for value in self._plan.roles.inputs if value[0] in self._plan.loops]
        return f"loss = model({', '.join(arguments)})"

    def _usual_step(self) -> list[str]:
        lines = (self._forward_call(), "optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
        return [INDENT + line for line in lines]

    def _updates(self) -> list[str]:
        """The statements of the canvas, with the call of the model in place of what computes the loss."""
        plan = self._plan
        step = plan.step
        own = self._own_names()
        part = self._writer.part(self._references("network", own), device=False)
        call = plan.roles.forward[-1]
        part.instead[call] = [self._forward_call()]
        if step.backward is not None:
            part.instead[step.backward] = ["loss.backward()"]
        for unit in step.schedule.by_loss if step.schedule is not None else ():
            part.instead[unit] = ["scheduler.step(average(loss.detach().clone()))"]
        if step.forgets:
            owner = "optimizer" if step.optimizer is not None else "model"
            part.before[call] = [f"{owner}.zero_grad()"]
        numbers = self._numbers(own)
        kept = [*step.updates, *numbers]
        part.references.spelled.update({v: text for v, text in plan.unread(kept, own).items() if v not in own})
        part.choose(kept)
        if not numbers:
            return self._writer.written(part, 1, step.body)
        if step.body == ROOT:
            return self._writer.written(part, 1, ROOT)
        return self._writer.written(part, 1, ROOT, step.body)

    def _own_names(self) -> dict[Value, str]:
        """What the function's own names stand for."""
        plan = self._plan
        step = plan.step
        own: dict[Value, str] = {step.loss: "loss"}
        if plan.rate is not None and step.optimizer is None:
            own[plan.rate.value] = "lr"
        if step.optimizer is not None:
            own[step.optimizer, 0] = "optimizer"
        if step.schedule is not None:
            own[step.schedule.maker, 0] = "scheduler"
        own.update({(loop, 0): self._variable(loop) for loop in plan.loops})
        return own

    def _numbers(self, own: dict[Value, str]) -> list[ItemId]:
        """What the updates read of the set-up beside the model: numbers, which stand in the step."""
        plan = self._plan
        step = plan.step
        known = {*own, *plan.attributes}
        in_class = {*plan.roles.construction, *plan.roles.constants}
        free = [unit for unit in step.set_up if unit not in in_class]
        read = {value for unit in step.updates for value in plan.units.reads(unit) if value not in known}
        homes = (plan.units.unit(value[0], ROOT) for value in read)
        found = step.closed((unit for unit in homes if unit is not None), free, ROOT)
        return [unit for unit in found if (unit, 0) not in own]

    def _references(self, owner: str, own: dict[Value, str] | None = None) -> PartReferences:
        """The names outside the class, where the model has this name."""
        plan = self._plan
        names = dict(self._names)
        if plan.handed and owner == "model" and own is None:
            # what the class is handed is made here, under the names of the canvas
            names.update((v, n) for v, n in plan.attributes.items() if not plan.analysis.validity.name(v))
            return plan.references.like(names, plan.wrapped)
        names.update((value, f"{owner}.{name}") for value, name in plan.attributes.items())
        names.update(own or {})
        return plan.references.like(names)


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


def _value(part: PartBody, node: ItemId) -> str:
    """A node's expression."""
    line = Line()
    part.printer.value(line, node)
    return line.text
