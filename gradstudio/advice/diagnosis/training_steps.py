"""What the steps of a training do with the gradients: sums that nobody zeroed, steps without any, leaves left out."""

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import makes_optimizer, makes_schedule
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.run_facts import Gap, LeafKey, RunFacts, is_zero, leaf_rows
from gradstudio.advice.diagnosis.slips.left_out import left_out, names_of, owners_of
from gradstudio.graph.model import ItemId
from gradstudio.graph.shared_storage import written_values
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import TensorRecord

STEP, ZERO = "torch.optim.Optimizer.step", "torch.optim.Optimizer.zero_grad"
MODULE_ZERO = "torch.nn.Module.zero_grad"
GRADIENT, SETTING, PARAMETERS = "torch.Tensor.grad", "torch.Tensor.grad=", "torch.nn.Module.parameters"
CLIPS = frozenset({"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"})
SHARING = frozenset(
    f"torch.distributed.{path}"
    for path in ("fsdp.fully_shard", "tensor.parallel.parallelize_module", "tensor.distribute_tensor")
)
LEAST_IDLE = 2
MOST_PARTS = 24


class Role(NamedTuple):
    """What a statement does to gradients or leaves; `of` is the optimizer, the module or the leaf.

    One that updates writes into whichever leaf its turn brings; `of` is the newest.
    """

    act: OneOf["step", "zero", "write", "update", "clip"]
    of: ItemId


class _Content:
    """What a leaf's `.grad` holds.

    Attributes:
        used: a step has used it since it was last empty.
        stale: more was added behind a step that used it.
        is_known: both are so, for nothing is missing from the record since it was emptied or used.
        uses: steps that went by it; `stale_uses` those of them that went by what an earlier one had used.
        is_emptied: it was emptied between two steps at least once.
    """

    def __init__(self) -> None:
        self.used = self.stale = self.is_emptied = False
        self.is_known = True
        self.uses = self.stale_uses = 0

    def empty(self) -> None:
        self.is_emptied = self.is_emptied or self.used
        self.used = self.stale = False
        self.is_known = True

    def use(self) -> None:
        self.uses += self.is_known
        self.stale_uses += self.stale
        self.used = self.is_known = True

    def lose(self) -> None:
        self.used = self.stale = self.is_known = False


class Steps:
    """A run gone through step by step.

    Attributes:
        stale: by statement of the backward that added behind a step, who steps with the sum, and the leaf.
        idle: by item that made an optimizer, its steps without a gradient that is newer than the zeroing or the step.
        count: by item that made an optimizer, all its steps.
        zeroed: optimizers whose idle steps stand behind a zeroing, and the statement that zeroed last.
        reached: leaves that got gradients, and in how many backwards something was in `.grad` before.
        written: leaves that the program writes into itself.
        next_step: who stepped first behind a backward that reached a leaf.
    """

    def __init__(self, facts: RunFacts, roles: dict[ItemId, Role]) -> None:
        """Go through it."""
        self._facts, self._roles = facts, roles
        self.stale: dict[ItemId, tuple[ItemId, LeafKey]] = {}
        self.idle: dict[ItemId, int] = {}
        self.count: dict[ItemId, int] = {}
        self.zeroed: dict[ItemId, tuple[ItemId, ...]] = {}
        self.step_of: dict[ItemId, ItemId] = {}
        self.reached: dict[LeafKey, int] = {}
        self.written: set[int] = set()
        self.next_step: dict[LeafKey, ItemId] = {}
        self._waiting: set[LeafKey] = set()
        self._contents: dict[LeafKey, _Content] = {}
        self._fresh: set[ItemId] = set()
        self._unknown: set[ItemId] = set()
        self._added_by: dict[LeafKey, ItemId] = {}
        for event in facts.course:
            if isinstance(event, BackwardTraced):
                self._backward(event)
            elif isinstance(event, Gap):
                self._lose_track()
            elif event.node in roles:
                self._act(event, roles[event.node])

    def _backward(self, traced: BackwardTraced) -> None:
        for key, row in leaf_rows(traced):
            content = self._contents.setdefault(key, _Content())
            self._waiting.add(key)
            before = row.before
            if before is None or is_zero(before):
                content.empty()
            elif content.used and (before.rms or before.nan or before.posinf or before.neginf):
                content.stale = True
                self._added_by[key] = traced.statement
            self.reached[key] = self.reached.get(key, 0) + (before is not None and not is_zero(before))
            storages = self._facts.storages(key)
            self._fresh |= {item for item, held in self._facts.held.items() if storages & held.keys()}

    def _lose_track(self) -> None:
        """What stands in `.grad` behind a gap nobody knows."""
        for content in self._contents.values():
            content.lose()
        self._waiting.clear()
        self._fresh.clear()
        self._unknown = set(self._facts.held)

    def _act(self, row: Row, role: Role) -> None:
        if role.act == "zero":
            self._zero(role.of, row.node)
        elif role.act == "write":
            self._use([key for key in self._contents if key[0] == role.of], row.node)
            self.written |= self._facts.storages((role.of, ""))
        elif role.act == "update":
            written = {one.storage for one in row.outputs if isinstance(one, TensorRecord)}
            self._use([key for key in self._contents if self._facts.storages(key) & written], row.node)
        elif role.act == "step":
            self.count[role.of] = self.count.get(role.of, 0) + 1
            self.step_of[role.of] = row.node
            for key in self._waiting:
                self.next_step.setdefault(key, role.of)
            self._waiting.clear()
            if role.of not in self._fresh | self._unknown:
                self.idle[role.of] = self.idle.get(role.of, 0) + 1
            held = self._facts.held.get(role.of, {})
            self._use([key for key in self._contents if self._facts.storages(key) & held.keys()], role.of)

    def _zero(self, of: ItemId, by: ItemId) -> None:
        held = set(self._facts.held.get(of, ())) or self._facts.module_storages(of)
        for key, content in self._contents.items():
            if self._facts.storages(key) & held:
                content.empty()
        emptied = {item for item in self._fresh | self._unknown if self._facts.held[item].keys() & held}
        self.zeroed.update(dict.fromkeys(emptied & self._fresh, (by,)))
        self._fresh -= emptied
        self._unknown -= emptied

    def _use(self, keys: list[LeafKey], by: ItemId) -> None:
        for key in keys:
            content = self._contents[key]
            if content.stale:
                self.stale.setdefault(self._added_by[key], (by, key))
            content.use()

    def updates_many(self, by: ItemId) -> bool:
        """Whether a statement writes into another leaf in each turn."""
        return by in self._roles and self._roles[by].act == "update"

    def shares(self, key: LeafKey) -> tuple[int, int] | None:
        """Steps that went by gradients used before, and all; None when nothing emptied a leaf's `.grad` in between."""
        content = self._contents[key]
        return (content.stale_uses, content.uses) if content.is_emptied else None


def roles_of(view: ProgramView, facts: RunFacts) -> dict[ItemId, Role]:
    """The statements that step, zero, or write into a leaf, inside calls, too."""
    found: dict[ItemId, Role] = {}
    for full, graph, item in view.insides():
        node = graph.nodes.get(item)
        if node is None:
            continue
        if node.operator in (STEP, ZERO, MODULE_ZERO):
            source = view.source(full, ("self",))
            of = view.resolve(source.item, source.output)[0] if source is not None else None
            if of is not None and not makes_schedule(view, of):  # .step() of what is handed in may be one of those
                found[full] = Role("step" if node.operator == STEP else "zero", of)
            continue
        if node.operator in CLIPS:
            module = _module_of(view, full) or _optimizer_with(view, facts, full)
            if module is not None:
                found[full] = Role("clip", module)
            continue
        for base, _ in written_values(graph, item):
            owner = ItemId(full.removesuffix(item) + base)
            if facts.storages((owner, "")):
                found[full] = Role("write", owner)
            elif (leaf := _leaf_written(facts, full)) is not None:
                found[full] = Role("update", leaf)
    return found


def _leaf_written(facts: RunFacts, item: ItemId) -> ItemId | None:
    """The leaf whose memory the newest result of an item is."""
    record = facts.record(item, 0)
    leaf = facts.leaves.get(record.storage) if isinstance(record, TensorRecord) else None
    return leaf.owner if leaf is not None and not leaf.path else None


def _module_of(view: ProgramView, clip: ItemId) -> ItemId | None:
    """Whose parameters a clip is given; None where they come by another way."""
    given = view.source(clip, ("parameters",))
    node = view.node(given.item) if given is not None else None
    source = view.source(given.item, ("self",)) if given is not None else None
    if node is None or source is None or node.operator != PARAMETERS:
        return None
    return view.resolve(source.item, source.output)[0]


def _optimizer_with(view: ProgramView, facts: RunFacts, clip: ItemId) -> ItemId | None:
    """The optimizer that was given the very list of parameters that a clip is given."""
    given = view.source(clip, ("parameters",))
    if given is None:
        return None
    wanted = view.resolve(given.item, given.output)
    for optimizer in facts.held:
        source = view.source(optimizer, ("params",))
        if source is not None and view.resolve(source.item, source.output) == wanted:
            return optimizer
    return None


def takes_steps(facts: RunFacts) -> bool:
    """Whether a run may have steps at all: an optimizer, or a gradient that was there when a backward added to it."""
    if facts.held:
        return True
    return any(row.before is not None for traced in facts.backwards() for _, row in leaf_rows(traced))


def step_findings(view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """All that the steps of a run tell."""
    if not roles:
        return
    if not all(_is_known(view, facts, role) for role in roles.values()):
        return  # an optimizer that comes by a way nobody here can follow
    steps = Steps(facts, roles)
    yield from _not_zeroed(view, facts, steps)
    if _shares_out(view):
        return  # a part lives elsewhere than what it is gathered in: whether an optimizer holds it cannot be told
    idle = [*_idle(view, steps)]
    if idle and not sets_gradients(view):
        yield from idle
    yield from _frozen(view, facts, steps)
    yield from left_out(view, facts, steps.next_step, steps.reached, steps.written)


def sets_gradients(view: ProgramView) -> bool:
    """Whether a program puts gradients of its own into `.grad`, of which no backward tells."""
    return any(node.operator == SETTING and node.literals.get("value") != "None" for node in written_nodes(view.graph))


def _shares_out(view: ProgramView) -> bool:
    """Whether processes share parameters out: what a backward reaches is then not what an optimizer was given."""
    return any(
        (node := inner.nodes.get(item)) is not None and node.operator in SHARING for _, inner, item in view.insides()
    )


def _is_known(view: ProgramView, facts: RunFacts, role: Role) -> bool:
    if role.act in ("write", "update", "clip") or (role.act == "zero" and facts.is_module(role.of)):
        return True
    node = view.node(role.of)
    return role.of in facts.held and node is not None and makes_optimizer(node.operator)


def _not_zeroed(view: ProgramView, facts: RunFacts, steps: Steps) -> Iterator[Finding]:
    for statement, (by, key) in steps.stale.items():
        leaf = facts.leaf_name(view, key)
        is_optimizer = by in facts.held
        who = f"the steps of {view.name(by)}" if is_optimizer else f"the updates of {leaf}"
        zeroing = f"{view.name(by)}.zero_grad()" if is_optimizer else f"{leaf}.grad = None"
        path = tuple(dict.fromkeys((statement, by, key[0])))
        if steps.updates_many(by):  # one of them zeroed is not all of them
            zeroing, path = f"{leaf}.grad = None, and that of every other leaf,", (statement,)
        shares = steps.shares(key)
        words = f"Gradients add up over {who}: nothing zeroes them in between"
        more = f"so a step goes by the sum of all gradients since the first ({leaf}.grad)"
        if shares is not None:
            words = f"Gradients add up over some of {who}: they are not zeroed before every backward"
            more = f"and {shares[0]} of {shares[1]} steps went by gradients that an earlier step had used ({leaf}.grad)"
        yield Finding(
            "no_zero_grad",
            "warning",
            statement,
            words,
            f"Each backward adds to .grad, {more}. Put {zeroing} before this backward.",
            path,
        )


def _idle(view: ProgramView, steps: Steps) -> Iterator[Finding]:
    for optimizer, idle in steps.idle.items():
        if idle < min(steps.count[optimizer], LEAST_IDLE) and idle < steps.count[optimizer]:
            continue
        step, name = steps.step_of[optimizer], view.name(optimizer)
        if optimizer in steps.zeroed:
            words = f"{name} steps without gradients: zero_grad stands between the backward and the step"
            more = "What the backward computed is gone before the step uses it. The order is zero_grad, backward, step."
        else:
            words = f"{name} steps without gradients: no backward has reached its parameters before"
            more = "A step goes by what is in .grad, and leaves alone what has none. Call backward on the loss before."
        yield Finding("idle_step", "warning", step, words, more, (step, *steps.zeroed.get(optimizer, ()), optimizer))


def _frozen(view: ProgramView, facts: RunFacts, steps: Steps) -> Iterator[Finding]:
    """Parameters that did not require grad when an optimizer was given them, and never learnt since."""
    learnt = {storage for key in steps.reached for storage in facts.storages(key)}
    for optimizer, held in facts.held.items():
        frozen = [storage for storage, requires in held.items() if not requires and storage not in learnt]
        names = names_of(view, facts, frozen)
        if not names or optimizer not in steps.count:
            continue
        yield Finding(
            "frozen_parameter",
            "warning" if len(frozen) == len(held) or is_given_whole(view, facts, optimizer, set(frozen)) else "info",
            optimizer,
            f"{view.name(optimizer)} is to update {names}, which is frozen: it does not require grad",
            f"{names} never gets a gradient, so a step leaves it as it is. Set its requires_grad to True where it is "
            "to learn; else do not give it to the optimizer.",
            (optimizer, *owners_of(view, facts, frozen)),
        )


def is_given_whole(view: ProgramView, facts: RunFacts, optimizer: ItemId, frozen: set[int]) -> bool:
    """Whether the parameters of a module that is all frozen were listed for an optimizer beside others."""
    todo, seen = [optimizer], {optimizer}
    while todo and len(seen) < MOST_PARTS:
        for source in view.sources(todo.pop(0)):
            at, _ = view.resolve(source.item, source.output)
            node = view.node(at)
            if at in seen or node is None:
                continue
            seen.add(at)
            if node.operator != PARAMETERS:
                todo.append(at)
                continue
            module = view.source(at, ("self",))
            held = facts.module_storages(view.resolve(module.item, module.output)[0]) if module is not None else set()
            if held and held <= frozen:
                return True
    return False
