"""One pass over a program on stand-ins: what each name would hold after each statement, and what can be said of it.

The rules of blocks and loops live here, those of aliases in `name_table`; how one statement is tried is
`statement_inference`'s.
"""

import copy
import itertools
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import MODULES
from gradstudio.engine.infer.code_inference import CodeInDefinitions, is_free, pass_code
from gradstudio.engine.infer.inference_memo import Memo, Recipe, Recipes, Signature, kinds_of, recipe_for, repeat
from gradstudio.engine.infer.leaf_gradients import LeafGradients
from gradstudio.engine.infer.loop_ends import ends_of
from gradstudio.engine.infer.name_table import NameTable, prelude_names
from gradstudio.engine.infer.namespace_changes import (
    are_alike,
    carries_another,
    changed_names,
    is_unsure,
    tell_varying,
)
from gradstudio.engine.infer.statement_inference import GUESS, StatementInference, Way
from gradstudio.engine.memory.memory_estimate import MemoryEstimate
from gradstudio.engine.meta.inference_results import (
    UNKNOWN,
    Ports,
    Refusal,
    Results,
    StatementResult,
    Unknown,
    absent_words,
    told_ports,
)
from gradstudio.engine.meta.meta_tensors import meta_of
from gradstudio.engine.meta.module_state import module_states
from gradstudio.engine.meta.replayable_iterators import holds_iterator, lose_advanced, lose_positions, positions_in
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.inference import PortInference

_MODES = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")
_ACCELERATORS = ("cuda", "mps", "xpu", "meta")
_numbers = itertools.count(1)
"""Keys of what is another object in each pass: what was made of the last pass's is none of it."""


class Calls(Protocol):
    """What tells of the inside of calls; `keys` are those of the definitions' names."""

    @property
    def keys(self) -> Mapping[str, object]:
        """What each definition is made of, by its name."""

    def hear(self, node: ItemId, line: int) -> None:
        """A statement, or the head of a block, is about to be tried."""

    def statement(self, walk: "InferencePass", step: Step) -> None:
        """Go through a statement of a pass, and into the call that it may be."""


class InferencePass:
    """One pass over a program's statements.

    Attributes:
        ports: what was found, by node and output.
        used: the part of the memo that this program needed.
        missed: fake tensors might have known more.
        needs: what is alive together.
        names: what each name holds; `gradients`: whether leaves have one.
        way: how statements are tried; an autocast block has its own.
        depth: how many calls this pass stands in.
        prelude: what is bound before the first statement.
        by_node: what each node gave; `earlier` is that of a pass before this one, where a node that gives the same
            again keeps what it gave, so that what follows it is remembered.
    """

    def __init__(
        self,
        program: Program,
        memo: Memo,
        recipes: Recipes,
        way: Way,
        load_file: Callable[..., object],
        calls: "Calls | None" = None,
    ) -> None:
        """Bind what the prelude binds; its default dtype holds until the end, its seed is left out.

        Args:
            program: what is gone over.
            memo: what an earlier pass found.
            recipes: what is known of statements whatever they read; what is found is added to them.
            way: how statements are tried.
            load_file: what the program calls to load a stored tensor.
            calls: says what happens inside calls of the program's own definitions; without it nothing is told of them.
        """
        self.ports: Ports = {}
        self.used: Memo = {}
        self.missed = False
        self.needs = MemoryEstimate()
        self.way = way
        self.depth = 0
        self.names = prelude_names(program, load_file)
        self.gradients = LeafGradients(program)
        self.by_node: dict[ItemId, StatementResult] = {}
        self.earlier: Mapping[ItemId, StatementResult] = {}
        self._memo = memo
        self._recipes = recipes
        self._calls = calls
        self._scope = 0
        self._visits: dict[ItemId, int] = {}
        self._lazy = "Lazy" in program.code
        self._only_cpu = program.device == "cpu" and not any(word in program.code for word in _ACCELERATORS)
        self.prelude = dict(self.names.values)
        self._code = CodeInDefinitions(program)
        self._definitions: Mapping[str, object] = calls.keys if calls is not None else {}
        self.names.keys.update(self._definitions)

    def body(self, items: tuple[Item, ...]) -> None:
        """Go through statements in order."""
        for item in items:
            if isinstance(item, Step):
                if self._calls is None:
                    self.statement(item)
                else:
                    self._calls.statement(self, item)
            elif item.block.kind == "for":
                self._loop(item)
            elif item.block.kind == "if":
                self._if(item)
            else:
                self._block(item)

    def inside_call(self, scope: int) -> "InferencePass":
        """A pass for what happens inside a call, whose statements `scope` tells from equal ones of other calls."""
        twin = copy.copy(self)
        twin.ports = {}
        twin.needs = MemoryEstimate()
        twin.depth = self.depth + 1
        twin.names = NameTable(dict(self.prelude), self.names.changed_modules)
        twin.names.keys.update((name, self.names.keys[name]) for name in self._definitions)
        if "device" in self.prelude:
            twin.names.devices["device"] = self.names.devices["device"]
        twin._scope = scope
        twin._visits = {}
        return twin

    # -------------------------------------------------------------- statements

    def statement(self, step: Step) -> None:
        """Go through one statement: as it is remembered, as an equal one was, else tried."""
        key = self._key(step)
        self.gradients.follow(step.statement)
        of_gradient = self.gradients.known(step, self.names.values, self.names.devices, key)
        known = of_gradient or self._memo.get(key)
        if known is None:
            known = self._found(step, key)
            if known is None:
                return
        elif of_gradient is None:
            self.used[key] = known
        self.by_node[step.id] = known
        self._bind(step, known)
        self._count(step, known)
        self._tell(step, known)

    def _found(self, step: Step, key: int) -> StatementResult | None:
        """What a statement gives that is not remembered: as an equal one did, else tried; None when it only acts."""
        if is_free(step.statement) or self._code.may_run_in(step, self.names.values):
            return pass_code(self, step, key, self._code.names)
        kind = self._kind(step)
        recipe = self._recipes.get(kind) if kind is not None else None
        if recipe is not None:
            known = self._as_before(step, recipe)
            if known is None:
                values = self.names.values
                inputs = [values[name] for name in step.source.reads if name in values]
                known = repeat(recipe, inputs)._replace(made_by=key)
            self.used[key] = known
            return known
        guessed = not self.names.guessed.isdisjoint(step.source.reads)
        if self._calls is not None:
            self._calls.hear(step.id, step.statement.line)
        trial = StatementInference(step, self.names.values, self.way, guessed)
        if trial.trains:
            self.names.train()
        if trial.skips:
            self._read_on(trial, UNKNOWN, key)
            self._change_modules(step, trial, key)
            self._act(step)
            if step.statement.backward and isinstance(refusal := trial.results(), Refusal):
                self.ports[step.id, 0] = PortInference(node=step.id, refusal=refusal.words)
            return None
        states = module_states(trial.operands.values())
        known = self._tried_anew(step, trial, key)
        if states != module_states(trial.operands.values()):
            self._change_modules(step, trial, key, changed=True)
            return known._replace(made_by=next(_numbers))
        recipe = recipe_for(known, list(trial.operands.values())) if kind is not None and trial.repeatable else None
        if kind is not None and recipe is not None:
            self._recipes[kind] = recipe
            known = self._as_before(step, recipe) or known._replace(recipe=recipe if recipe.is_new else None)
        self._read_on(trial, known.results, key)
        if trial.repeatable and not trial.missed and not holds_iterator(known.results):
            self.used[key] = known
        else:
            known = known._replace(made_by=next(_numbers))
        self._change_modules(step, trial, key)
        return known

    def _as_before(self, step: Step, recipe: Recipe) -> StatementResult | None:
        """What the node gave in the last pass, if it gives the same again."""
        known = self.earlier.get(step.id)
        return known if known is not None and known.recipe is not None and known.recipe == recipe else None

    def _read_on(self, trial: StatementInference, results: Results, key: int) -> None:
        """Iterators were read: whoever reads them next finds something else."""
        if not isinstance(results, list):
            lose_positions(trial.iterators)
        if trial.iterators:
            self.names.read_on(trial.iterators, key)

    def _change_modules(self, step: Step, trial: StatementInference, key: int, changed: bool = False) -> None:
        if changed or trial.touches_modules or (self._lazy and trial.reads_modules):
            moved = trial.device({}) if trial.asked else ""
            self.names.change_modules(step.source.reads, key, moved)

    def _act(self, step: Step) -> None:
        """What a backward or an optimizer's step makes."""
        read = step.source.operands
        if step.statement.backward:
            self.needs.backward(step.id, read, next((self.names.devices.get(name, "") for name in read), ""))
        for name in read if step.statement.operator.endswith(".step") else ():
            if isinstance(held := self.names.values.get(name), torch.optim.Optimizer):
                self.needs.step(step.id, held, self.names.devices.get(name, ""))
        self.needs.drop(step.statement.drops)

    def _count(self, step: Step, known: StatementResult) -> None:
        names = (*step.statement.names, *known.changed)
        self.needs.made_of(names, (*step.source.reads, *known.changed), self.names.values)
        self.needs.bind(step.id, names, self.names.values, self.names.devices)
        self.needs.drop(step.statement.drops)

    def _kind(self, step: Step) -> Signature | None:
        """What the results depend on, when no number of a tensor is among it."""
        if self._lazy or not step.statement.names or step.statement.writes:
            return None
        kinds = kinds_of(self.names, step.source.reads)
        if kinds is None:
            return None
        guessed = not self.names.guessed.isdisjoint(step.source.reads)
        return (*self._text(step), guessed, kinds, step.source.places)

    def _text(self, step: Step) -> Signature:
        way = self.way
        modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype())
        statement = step.statement
        return (statement.operator, step.source.template, len(statement.names), modes, way.run_small, way.autocast)

    def _tried_anew(self, step: Step, trial: StatementInference, key: int) -> StatementResult:
        results = trial.results()
        self.missed = self.missed or trial.missed
        device = "" if isinstance(results, Unknown | Refusal) else trial.device(self.names.devices)
        names_it = trial.asked or "device" in step.source.reads
        return StatementResult(
            results, trial.overwritten(results), trial.guessed, device, absent_words(device) if names_it else "", key
        )

    def _key(self, step: Step) -> int:
        """The same in every inference; each visit of each node has another, for what it makes is not the same."""
        visits = self._visits[step.id] = self._visits.get(step.id, 0) + 1
        # hash-consed by Python: a key holds the hashes of its inputs' keys
        return hash((step.id, visits, self._scope, *self.text_and_reads(step)))

    def text_and_reads(self, step: Step) -> Signature:
        """All that a statement's results depend on."""
        keys = self.names.keys
        return (*self._text(step), hash(tuple([keys.get(name, name) for name in step.source.slots])))

    def _bind(self, step: Step, known: StatementResult) -> None:
        results = known.results
        for name, value in known.changed.items():
            self.names.write(name, value, known.made_by)
        reads = step.source.reads
        for place, name in enumerate(step.statement.names):
            value = results[place] if isinstance(results, list) else UNKNOWN
            self.names.bind(name, value, (known.made_by, place))
            self.names.note(name, known.device, known.guessed)
            if isinstance(value, nn.Module) and all(read in MODULES or read in self._definitions for read in reads):
                self.names.origins[name] = hash(self.text_and_reads(step))  # all that equal statements make is equal

    def _tell(self, step: Step, known: StatementResult) -> None:
        for port in told_ports(step.statement, known, self.names.values, self.names.devices):
            self.ports[step.id, port.output] = port

    # -------------------------------------------------------------- blocks

    def _block(self, head: Head) -> None:
        outer = self.way
        with ExitStack() as stack:
            if head.block.kind in _MODES and head.expression is not None:
                stack.enter_context(access.evaluate(head.expression, self.names.values))
            elif head.block.kind == "autocast":
                self.way = outer._replace(autocast=self._cast(head, stack))
            self.body(head.body)
        self.way = outer

    def _cast(self, head: Head, stack: ExitStack) -> str:
        """Enter an autocast block of the CPU; of another device's nobody here knows what it casts."""
        assert head.expression is not None
        if self._only_cpu:
            stack.enter_context(access.evaluate(head.expression, self.names.values))
        entered = self._only_cpu and torch.is_autocast_enabled("cpu")
        return f"cast to {torch.get_autocast_dtype('cpu')}" if entered else GUESS

    def _if(self, head: Head) -> None:
        """A condition that is decided says whether it is entered; else its names are open after it."""
        decided = self._value_of(head)
        if not isinstance(decided, Unknown | Tensor) or (isinstance(decided, Tensor) and not decided.is_meta):
            if decided:
                self.body(head.body)
            return
        before = dict(self.names.values)
        places = positions_in(self.names.values.values())
        had_gradients = self.gradients.are_there
        self.body(head.body)
        self.gradients.are_there = self.gradients.are_there and had_gradients
        lose_advanced(places)
        for name in changed_names(before, self.names.values):
            now = self.names.values[name]
            same = isinstance(now, Tensor) and are_alike(before.get(name), now)
            key = ("if", head.fingerprint, name, self.names.keys.get(name))
            self.names.bind(name, meta_of(now) if same else UNKNOWN, key)

    def _loop(self, head: Head) -> None:
        """The first turn tells; others, gone through in silence, say what is the same in all of them and after."""
        over = self._ends(head)
        if over == ():
            return
        before = dict(self.names.values)
        told_before = dict(self.ports)
        places = positions_in(self.names.values.values())
        turns = (UNKNOWN,) if over is None else over
        self._turn(head, turns[0])
        if len(turns) == 1 and over is not None:
            return
        first = dict(self.names.values)
        told_first = self.ports
        for value in turns[1:] or turns:
            self.names.loosen(before, head.fingerprint)
            self.ports = {}
            self._turn(head, value)
            if carries_another(before, first):
                tell_varying(told_first, told_before, self.ports)
        self.ports = told_first
        lose_advanced(places)
        for name in changed_names(before, self.names.values):
            last = self.names.values[name]
            same = over is not None and are_alike(first.get(name), last)
            self.names.bind(
                name, meta_of(last) if same else UNKNOWN, (head.fingerprint, name, self.names.keys.get(name))
            )

    def _turn(self, head: Head, value: Any) -> None:
        assert head.expression is not None
        over = hash(tuple(self.names.keys.get(name, name) for name in head.expression.co_names))
        values = [value] if len(head.targets) == 1 else [UNKNOWN] * len(head.targets)
        if len(head.targets) > 1 and isinstance(value, tuple | list):
            values = list(value)
        for name, element in zip(head.targets, values, strict=False):
            number = element if type(element) in (int, float, bool, str) else id(element)
            self.names.bind(name, element, (head.fingerprint, over, name, type(element), number))
        self.body(head.body)

    def _ends(self, head: Head) -> tuple[Any, ...] | None:
        """The first, second and last element gone over; () when there is none, None when only a run tells."""
        return ends_of(self._value_of(head), head, self.names.values)

    def _value_of(self, head: Head) -> Any:
        """What the expression in the block's head gives; UNKNOWN when only a run tells."""
        assert head.expression is not None
        read = [self.names.values.get(name) for name in head.expression.co_names]
        if any(map(is_unsure, read)) or lose_positions(read):
            return UNKNOWN
        if self._calls is not None:
            self._calls.hear(head.block.block, head.block.line)
        try:
            return access.evaluate(head.expression, self.names.values)
        except Exception:  # noqa: BLE001 - a program's own code on stand-ins: the run will say
            return UNKNOWN
