"""Add training: the text of a program whose loss is learnt in a loop, written as the official tutorials write it.

What was there stays as it was typed: the statements that the loss is computed by move into the loop, the rest stands
before it. Data that are rows of a batch get a data set, a part of them that is kept for a test, and loaders; the test
goes over batches, too, and its figures are those of all its rows: the mean of the losses by rows, what is right of all.
"""

import ast
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.names import bound_names
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.init_statements import SettingUp
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.late_draws import words_of_earlier
from gradstudio.program.forms.training.loop_turns import loop_that_trains
from gradstudio.program.forms.training.static_shapes import Shapes
from gradstudio.program.forms.training.switches.code_switches import EarlyStop, begin_lines, stop_lines
from gradstudio.program.forms.training.switches.step_objects import FreeNames, StepObjects
from gradstudio.program.forms.training.texts.loop_lines import INDENT, indented, loop_target, without_blank_end
from gradstudio.program.forms.training.training_options import STEPS_PER_EPOCH, USUAL, TrainingOptions
from gradstudio.program.forms.training.training_step import Step
from gradstudio.program.write import Script, write

CLASSES = ("cross_entropy", "CrossEntropyLoss")
_NO_PARAMETERS = frozenset(
    "ReLU Tanh Sigmoid GELU SiLU Softmax LogSoftmax Dropout Dropout2d Flatten MaxPool1d MaxPool2d AvgPool1d AvgPool2d "
    "LeakyReLU ELU Identity".split()
)
ONE_MODE = frozenset("Linear Conv1d Conv2d Conv3d Embedding LayerNorm GroupNorm Bilinear".split()) | (
    _NO_PARAMETERS - {"Dropout", "Dropout2d"}
)
"""Layers that do the same while they learn and while they are tested."""
OPERANDS = 2
LEAST_ROWS = 8
"""Data of fewer rows are learnt all at once."""
TEST_BATCHES = 4
"""So many batches to learn from are one of the test, which keeps nothing for a backward."""
SUMS = ('reduction="sum"', "reduction='sum'", ".sum()\n")
"""Words of losses that are no mean over rows: their test is one batch."""
APART = "_val"
"""Behind the name of data whose rows to validate are kept apart."""
END = 2**31
"""A line behind every other."""
Shape = tuple[int, ...]


class AddedTraining(NamedTuple):
    """The text with a training in it, and in words what else is other than before; "": nothing."""

    text: str
    note: str = ""


def with_training(
    graph: Graph,
    shape_of: Callable[[Value], Shape | None],
    options: TrainingOptions = USUAL,
    *,
    stem: str = "program",
) -> AddedTraining:
    """The program with a training in it: what draws random numbers and is made once is made before the loop.

    Args:
        graph: the program.
        shape_of: what is known of the shape of a value beyond what the text says; data that share a first size, as
            far as it is known, are rows.
        options: how long, by which optimizer, and the switches of the step.
        stem: the name under which the text is printed.

    Raises:
        NoForm: there is nothing to train, or a training is there already; says what to do.
    """
    analysis = analyse(graph)
    loop = loop_that_trains(analysis)
    if loop is not None:
        raise NoForm(f"'{title(graph, loop)}' trains already: change its numbers, or what stands in it.")
    step = Step(analysis, may_redraw=True)
    if step.updates:
        raise NoForm("The program changes its parameters itself. Take that away, and an optimizer does it in a loop.")
    made = SettingUp(step.units, step.forward)
    if not (made.parameters or made.modules):
        words = "Add layers, or leaves with requires_grad=True."
        raise NoForm(f"There is nothing to train: '{step.name(step.loss[0])}' is computed from no parameter. {words}")
    static = Shapes(step.units)
    shapes = [shape_of(value) or static.of(value) for value in made.inputs]
    counts = {shape[0] if shape else 0 for shape in shapes if shape is not None}  # of others a data set says itself
    are_rows = len(counts) == 1 and min(counts) >= LEAST_ROWS if counts else len(shapes) >= OPERANDS
    lines = _Writer(step, made, write(graph, stem=stem), shapes if are_rows else None, options).lines()
    place = step.units.position
    earlier = [unit for unit in step.late if place[unit] < place[step.loss[0]]]  # others stay behind the loop
    return AddedTraining("\n".join(lines) + "\n", words_of_earlier(step.units, earlier))


class _Writer:
    """Lines of the new text."""

    def __init__(
        self,
        step: Step,
        made: SettingUp,
        script: Script,
        shapes: Sequence[Shape | None] | None,
        options: TrainingOptions,
    ) -> None:
        """`shapes` of the data, as far as they are known; None: they are no rows."""
        self._options = options
        self._graph, self._step_of, self._script = step.graph, step, script
        self._are_rows, self._shapes = shapes is not None, shapes or ()
        self._text = script.code.split("\n")
        self._names = FreeNames(set(bound_names(step.graph)))
        self._body = {statement.lineno: statement for statement in ast.parse(script.code).body}
        backward = step.backward
        moved = [*made.forward, *([backward] if backward is not None else [])]
        self._moved = sorted({self._line_of(item) for item in moved})
        self._data = [self._name_of(value) for value in made.inputs]
        words = {self._name_of(value): self._word(value) for value in made.modules}
        self._words = words
        self._models = [one for one, word in words.items() if word not in _NO_PARAMETERS and not word.endswith("Loss")]
        self._modal = [one for one, word in words.items() if word not in ONE_MODE and not word.endswith("Loss")]
        self._loss, self._test_data, self._test_loss = self._named_loss(), "", ""
        self._adds_up = any(word in script.code for word in SUMS)
        self._leaves = [self._name_of(value) for value in made.parameters]

    def lines(self) -> Iterator[str]:
        """All of them: what is made once, the loop, and what came behind."""
        inside = {line for start in (*self._moved, *self._following()) for line in range(start, self._end(start) + 1)}
        first = min(self._moved)
        rest = [k for k in range(1, len(self._text) + 1) if k not in inside]
        above = [self._text[k - 1] for k in rest if k < first or self._is_before(k)]
        below = [self._text[k - 1] for k in rest if not (k < first or self._is_before(k))]
        yield from without_blank_end(above)
        yield from self._loop()
        yield from without_blank_end(below)

    def _following(self) -> list[int]:
        """Lines between those that move which read what those bind: an accuracy goes into the loop, too."""
        bound, found = set[str](), list[int]()
        for line, statement in sorted(self._body.items()):
            if line > max(self._moved):
                break
            names = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
            is_moved = line in self._moved
            if is_moved or any(one.id in bound and isinstance(one.ctx, ast.Load) for one in names):
                bound.update(one.id for one in names if isinstance(one.ctx, ast.Store))
                found += [] if is_moved else [line]
        return found

    def _is_before(self, line: int) -> bool:
        """Whether a line between those that move is needed by none of them: it stands before the loop."""
        return line < max(self._moved)

    def _loop(self) -> Iterator[str]:
        options = self._options
        forward = [line for line in self._moved if not self._is_backward(line)]
        if not self._are_rows:
            objects = yield from self._objects(options.steps)
            stop = yield from self._stop(options.patience * STEPS_PER_EPOCH, self._loss)
            yield f"for {self._names.fresh('step')} in range({options.steps}):"
            yield from indented(self._step(forward, objects, {}))
            yield from (f"{INDENT}{one}.step()" for one in objects.schedules)
            yield from (f"{INDENT}{line}" for one in stop for line in stop_lines(one))
            return
        loader, test_loader = yield from self._loaders()
        objects = yield from self._objects(options.epochs)
        self._test_loss = self._names.fresh(f"{self._loss}_test")
        stop = yield from self._stop(options.patience, self._test_loss)
        batch = {name: self._names.fresh(f"{name}_batch") for name in self._data}
        yield f"for {self._names.fresh('epoch')} in range({options.epochs}):"
        yield from (f"{INDENT}{model}.train()" for model in self._modal)
        yield from self._batches(forward, objects, batch, loader)
        yield from (f"{INDENT}{one}.step()" for one in objects.schedules)
        yield from (f"{INDENT}{model}.eval()" for model in self._modal)
        yield from indented(self._test(forward, test_loader))
        yield from (f"{INDENT}{line}" for one in stop for line in stop_lines(one))

    def _stop(self, patience: int, judged: str) -> Generator[str, None, tuple[EarlyStop, ...]]:
        """What an early stop begins with; none where the training is to take all its turns."""
        if not patience:
            return ()
        stop = EarlyStop(judged, self._names.fresh("best"), self._names.fresh("waited"), patience)
        yield from begin_lines(stop)
        return (stop,)

    def _batches(self, forward: list[int], objects: StepObjects, batch: dict[str, str], loader: str) -> Iterator[str]:
        """The loop over batches; several of them make a step where that is asked for."""
        every = self._options.accumulate
        if every == 1:
            yield f"{INDENT}for {loop_target(batch)} in {loader}:"
            yield from indented(self._step(forward, objects, batch), 2)
            return
        number = self._names.fresh("number")
        yield f"{INDENT}{objects.optimizer}.zero_grad()"
        yield f"{INDENT}for {number}, ({', '.join(batch.values())}{',' * (len(batch) == 1)}) in enumerate({loader}):"
        yield from indented(self._forward(forward, batch), 2)
        yield f"{INDENT * 2}{objects.backward(f'({self._loss} / {every})')}"
        yield f"{INDENT * 2}if ({number} + 1) % {every} == 0 or {number} + 1 == len({loader}):"
        yield from indented(self._update(objects), 3)
        yield f"{INDENT * 3}{objects.optimizer}.zero_grad()"

    def _objects(self, turns: int) -> Generator[str, None, StepObjects]:
        """What steps: the optimizer, and as asked for a schedule over so many turns and a scaler."""
        options, optimizer = self._options, self._names.fresh("optimizer")
        if options.is_compiled:
            yield from self._compiling()
        yield f"{optimizer} = {options.optimizer_call(self._parameters())}"
        schedules: tuple[str, ...] = ()
        scaler = ""
        if call := options.schedule_call(optimizer, turns):
            schedule = self._names.fresh("scheduler")
            schedules = (schedule,)
            yield f"{schedule} = {call}"
        if options.is_scaled:
            scaler = self._names.fresh("scaler")
            yield f"{scaler} = torch.amp.GradScaler()"
        return StepObjects(optimizer, schedules, scaler)

    def _compiling(self) -> Iterator[str]:
        if not self._models:
            raise NoForm("There is no module to compile, only tensors. Leave torch.compile off.")
        yield from (f"{model}.compile()" for model in self._models)

    def _loaders(self) -> Generator[str, None, tuple[str, str]]:
        """The data as a set that is split; the names of the two loaders are returned."""
        sets = [self._names.fresh(name) for name in ("data", "train_data", "test_data", "loader", "test_loader")]
        data, train, test, loader, test_loader = sets
        apart = self._kept_apart()
        if apart:
            yield f"{train} = torch.utils.data.TensorDataset({', '.join(self._data)})"
            yield f"{test} = torch.utils.data.TensorDataset({', '.join(apart)})"
        else:
            yield f"{data} = torch.utils.data.TensorDataset({', '.join(self._data)})"
            yield f"{train}, {test} = torch.utils.data.random_split({data}, [0.8, 0.2])"
        yield f"{loader} = torch.utils.data.DataLoader({train}, batch_size={self._options.batch}, shuffle=True)"
        self._test_data = test
        size = f"len({test})" if self._adds_up else str(self._options.batch * TEST_BATCHES)
        yield f"{test_loader} = torch.utils.data.DataLoader({test}, batch_size={size})"
        return loader, test_loader

    def _kept_apart(self) -> list[str]:
        """Of each data its rows to validate, as imported data have them (``X_val``); none where one has none."""
        above = [
            name
            for item in self._graph.order(ROOT)
            if item in self._graph.nodes and self._script.lines.get(item, END) < max(self._moved)
            for name in self._graph.nodes[item].names
        ]
        found = [f"{name}{APART}" for name in self._data]
        return found if set(found) <= set(above) else []

    def _parameters(self) -> str:
        if len(self._models) == 1 and not self._leaves:
            return f"{self._models[0]}.parameters()"
        return f"[{', '.join([*(f'*{one}.parameters()' for one in self._models), *self._leaves])}]"

    def _step(self, forward: list[int], objects: StepObjects, renamed: dict[str, str]) -> Iterator[str]:
        yield from self._forward(forward, renamed)
        yield f"{objects.optimizer}.zero_grad()"
        yield objects.backward(self._loss)
        yield from self._update(objects)

    def _forward(self, forward: list[int], renamed: dict[str, str]) -> Iterator[str]:
        """The statements that the loss needs, under autocast where that is asked for."""
        whole = sorted({*forward, *self._following()})
        lines = (one for line in whole for one in self._renamed(line, renamed))
        if not (context := self._options.context):
            yield from lines
            return
        yield context
        yield from indented(lines)

    def _update(self, objects: StepObjects) -> Iterator[str]:
        """The step of the optimizer, behind what is done to the gradients."""
        if self._options.clip:
            if objects.scaler:
                yield f"{objects.scaler}.unscale_({objects.optimizer})"
            yield f"torch.nn.utils.clip_grad_norm_({self._parameters()}, {self._options.clip})"
        if not objects.scaler:
            yield f"{objects.optimizer}.step()"
            return
        yield f"{objects.scaler}.step({objects.optimizer})"
        yield f"{objects.scaler}.update()"

    def _test(self, forward: list[int], loader: str) -> Iterator[str]:
        """The same of the data that nobody learns from, under other names; of classes the share that is right."""
        names = {name: self._names.fresh(f"{name}_test") for name in self._data}
        head = f"for {loop_target(names)} in {loader}:"
        rows = f"len({names[self._data[0]]})"
        loss, cost, total = self._test_loss, self._names.fresh("cost"), self._names.fresh("total")
        inside = list(self._measured(forward, names, cost))
        sums = {total: f"{cost} * {rows}"}
        figures = {loss: total}
        if (scores := self._scores(forward[-1])) is not None:
            score, target = (names.get(one, one) for one in scores)
            each = "" if self._is_one_class(scores[1]) else f" * {rows} / {target}.numel()"
            accuracy, right, correct = (self._names.fresh(one) for one in ("accuracy", "right", "correct"))
            inside.append(f"{right} = ({score}.argmax(1) == {target}).sum(){each}")
            sums[correct] = right
            figures[accuracy] = correct
        yield f"{', '.join(sums)} = {', '.join(('0.0', '0')[: len(sums)])}"
        yield "with torch.no_grad():"
        yield f"{INDENT}{head}"
        yield from indented(inside, 2)
        yield from (f"{INDENT * 2}{name} = {name} + {part}" for name, part in sums.items())
        yield from (f"{name} = {part} / len({self._test_data})" for name, part in figures.items())

    def _is_one_class(self, target: str) -> bool:
        """Whether a row surely has one class; else what is right is counted in rows."""
        shape = self._shapes[self._data.index(target)] if target in self._data else None
        return shape is not None and len(shape) == 1

    def _measured(self, forward: list[int], names: dict[str, str], cost: str) -> Iterator[str]:
        """The forward of a batch of the test; the loss is called `cost` there, `names` learns what else is called."""
        for line in forward:
            found = [one for one in ast.walk(self._body[line]) if isinstance(one, ast.Name)]
            bound = [self._loss] if self._is_bare(line) else [one.id for one in found if isinstance(one.ctx, ast.Store)]
            for one in bound:
                if one not in names:
                    names[one] = cost if one == self._loss else self._names.fresh(f"{one}_test")
            yield from self._renamed(line, names)

    # ---------------------------------------------------------------- what is in the text

    def _scores(self, line: int) -> tuple[str, str] | None:
        """The names of scores and classes that the loss compares; None of another loss, or where they have none."""
        statement = self._body[line]
        call = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
        if not isinstance(call, ast.Call):
            return None
        word = self._words.get(ast.unparse(call.func)) or ast.unparse(call.func).rpartition(".")[2]
        names = [one.id for one in call.args if isinstance(one, ast.Name)]
        is_plain = word in CLASSES and len(names) == len(call.args) == OPERANDS
        return (names[0], names[1]) if is_plain else None

    def _renamed(self, line: int, names: dict[str, str]) -> list[str]:
        """The lines of a statement, with other names; a loss without a name gets one."""
        statement, end = self._body[line], self._end(line)
        lines = [one.encode() for one in self._text[line - 1 : end]]
        found = [one for one in ast.walk(statement) if isinstance(one, ast.Name) and one.id in names]
        for one in sorted(found, key=lambda name: (name.lineno, name.col_offset), reverse=True):
            text, row = lines[one.lineno - line], one.lineno - line
            lines[row] = text[: one.col_offset] + names[one.id].encode() + text[one.end_col_offset :]
        if self._is_bare(line):
            lines[0] = f"{names.get(self._loss, self._loss)} = ".encode() + lines[0]
        return [one.decode() for one in lines]

    def _is_bare(self, line: int) -> bool:
        """Whether a statement is the loss, which has no name."""
        return isinstance(self._body[line], ast.Expr) and line == self._line_of(self._step_of.loss[0])

    def _word(self, value: Value) -> str:
        operator = self._step_of.units.operator(value[0])
        return operator.word if operator is not None else ""

    def _named_loss(self) -> str:
        """What the loss is called, or is to be called."""
        node = self._graph.nodes[self._step_of.loss[0]]
        backward = self._step_of.backward
        if backward is not None and self._line_of(node.id) == self._line_of(backward):
            raise NoForm("The loss is written inside its backward. Give it a name (F2), so that the loop can show it.")
        return node.names[self._step_of.loss[1]] if node.names else self._names.fresh("loss")

    def _is_backward(self, line: int) -> bool:
        backward = self._step_of.backward
        return backward is not None and self._line_of(backward) == line

    def _end(self, line: int) -> int:
        return self._body[line].end_lineno or line

    def _line_of(self, item: ItemId) -> int:
        line = self._script.lines.get(item)
        found = [one for one in self._body.values() if line is not None and one.lineno <= line <= (one.end_lineno or 0)]
        if not found:
            raise NoForm(f"'{self._step_of.name(item)}' stands in no line of its own. Give it a name (F2).")
        return found[0].lineno

    def _name_of(self, value: Value) -> str:
        node = self._graph.nodes[value[0]]
        if len(node.names) <= value[1] or node.nested:
            words = "is written inside another statement"
            raise NoForm(f"'{self._step_of.name(value[0])}' {words}. Give it a name (F2), so that the loop can use it.")
        return node.names[value[1]]
