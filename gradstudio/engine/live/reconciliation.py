"""Whether a live state still belongs to a program after an edit (semantics §6, Stale)."""

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gradstudio.engine.live.initial_state import extend_prelude
from gradstudio.engine.live.literal_updates import LiteralChanges
from gradstudio.engine.live.live_state import Binding, Live, Loaded
from gradstudio.engine.script.compiled_steps import Head, Item, Step, heads, prepare_inside
from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Inside, Program, Statement, flatten_statements
from gradstudio.program.trust import code_digest

NOBODY = ItemId("")
Bound = tuple[str, Binding, object]
"""Old name ("" for a part, whose name was dropped), who bound it, the value."""


def reconcile(live: Live, loaded: Loaded) -> bool:
    """Carry the live state over to the program, when all that has run is the same in it.

    Names do not count: what was renamed is bound to its new name. False means stale, and nothing
    was changed.
    """
    live.changes = ()
    if loaded.program is live.loaded.program:
        return True
    if loaded.program.codes or live.loaded.program.codes:
        if _is_same_text(live, loaded):
            return True
        if not _is_same_code(live.loaded.program, loaded.program):
            return False
    steps = {step.id: step for step in loaded.steps}
    old_program, program = live.loaded.program, loaded.program
    changes = LiteralChanges(live)
    same_around = _same_header(old_program, program) and _same_insides(old_program, program)
    if not (same_around and _same_so_far(live, loaded, changes)):
        return False
    for node, old in live.executed.items():
        if old.statement.repeated or node in changes:
            continue
        if node not in steps or steps[node].fingerprint != old.fingerprint:
            return False
    renamed = _renamed(live, loaded, steps)
    if renamed is None:
        return False
    _carry_over(live, loaded, steps, renamed)
    live.changes = changes.apply()
    return True


def _is_same_text(live: Live, loaded: Loaded) -> bool:
    """Of a program with code of its own: whether it is the one that ran, which stays as it was made ready."""
    is_same = live.loaded.program.code == loaded.program.code
    if is_same:
        live.loaded.revision = loaded.revision
    return is_same


def _is_same_code(old: Program, new: Program) -> bool:
    """Whether only what is drawn may differ: what a yes is to is the same, and so are names, by which code reads."""
    old_names, new_names = ([one.names for one in flatten_statements(program.statements)] for program in (old, new))
    return (old_names, old.prelude, code_digest(old)) == (new_names, new.prelude, code_digest(new))


def _same_header(old: Program, new: Program) -> bool:
    return (old.seed, old.device, _settings(old)) == (new.seed, new.device, _settings(new))


def _same_insides(old: Program, new: Program) -> bool:
    """Whether the definitions that both have are the same; their lines may be others."""
    known = {inside.name: inside for inside in old.insides}
    return all(inside.name not in known or _same_inside(known[inside.name], inside) for inside in new.insides)


def _same_inside(old: Inside, new: Inside) -> bool:
    if old == new:
        return True
    heads_of = [(one.head, one.making, one.stores, one.is_module) for one in (old, new)]
    return heads_of[0] == heads_of[1] and all(
        _same(prepare_inside(before, NOBODY, ""), prepare_inside(after, NOBODY, ""))
        for before, after in ((old.setup, new.setup), (_with_return(old), _with_return(new)))
    )


def _with_return(inside: Inside) -> tuple[Statement | BlockStatement, ...]:
    """The body, and what is returned as a statement behind it: its names count as little as any others."""
    text = f"({', '.join([*inside.results, ''])})"
    return (*inside.body, Statement(node=NOBODY, operator="", text=text, address="", line=1))


def _settings(program: Program) -> list[str]:
    """What the prelude sets: `torch.set_default_dtype`; not its imports."""
    tree = ast.parse(program.prelude)
    return [ast.unparse(s) for s in tree.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]


def _same_so_far(live: Live, loaded: Loaded, changes: LiteralChanges) -> bool:
    """Whether every statement behind the counter is the same, bodies of loops in a later turn as a whole."""
    in_loop = False
    frames, items = live.cursor.frames, loaded.items
    for depth, frame in enumerate(frames):
        through = len(frame.items) if frame.turn else frame.index
        through += depth == len(frames) - 1 and bool(live.calls)  # what is being called has begun
        in_loop = in_loop or frame.iterator is not None
        allows = partial(changes.allows, in_loop=in_loop)
        if not _same(frame.items[:through], items[:through], allows):
            return False
        if depth == len(frames) - 1:
            return True
        if frame.index >= len(items):
            return False
        old, new = frame.items[frame.index], items[frame.index]
        if not (isinstance(new, Head) and isinstance(old, Head) and old.fingerprint == new.fingerprint):
            return False
        items = new.body
    return True


def _same(
    old: tuple[Item, ...], new: tuple[Item, ...], allows: Callable[[Item, Item], bool] = lambda _old, _new: False
) -> bool:
    if len(old) != len(new):
        return False
    return all(
        isinstance(a, Step) == isinstance(b, Step)
        and (a.fingerprint == b.fingerprint or allows(a, b))
        and (not isinstance(a, Head) or not isinstance(b, Head) or _same(a.body, b.body, allows))
        for a, b in zip(old, new, strict=True)
    )


def _loop_variables(live: Live, loaded: Loaded) -> Iterator[tuple[str, str]]:
    """(Old, new) name of each bound loop variable that was renamed."""
    new = {head.id: head.targets for head in heads(loaded.items)}
    for name, (node, place) in live.binder.items():
        targets = new.get(node, ())
        if place < len(targets) and targets[place] != name:
            yield name, targets[place]


def _renamed(live: Live, loaded: Loaded, steps: dict[Any, Step]) -> dict[str, Bound] | None:
    """New name -> (old name, who bound it, value) of what is bound; None when a value that got a name is lost."""
    names = {name: (binding, live.namespace.get(name)) for name, binding in live.binder.items()}
    renamed = {after: (before, *names[before]) for before, after in _loop_variables(live, loaded)}
    for node, old in live.executed.items():
        new = steps.get(node)
        if new is None or new.fingerprint != old.fingerprint:
            continue  # it ran in an earlier pass, and is ahead now
        for index, (before, after) in enumerate(zip(old.statement.names, new.statement.names, strict=True)):
            if before == after and old.statement.is_part == new.statement.is_part:
                continue
            if live.binder.get(before) == (node, index):
                renamed[after] = (before, *names[before])
            elif after != "_" and not new.statement.is_part and live.ran_in_this_pass(node):
                value = live.kept(node, index)
                if value is None:
                    return None
                renamed.setdefault(after, ("", (node, index), value))
    return renamed


def _carry_over(live: Live, loaded: Loaded, steps: dict[Any, Step], renamed: dict[str, Bound]) -> None:
    live.forget(before for before, _, _ in renamed.values())
    for after, (before, binding, value) in renamed.items():
        if before or after not in live.binder:
            live.namespace[after], live.binder[after] = value, binding
    live.executed = {node: steps.get(node, step) for node, step in live.executed.items()}
    if live.last_backward is not None:
        live.last_backward = steps.get(live.last_backward.id)
    live.cursor.rebase(loaded.items, live.namespace)
    if live.calls:
        calling = live.calls[0]
        calling.execution.step = steps[calling.execution.step.id]
        calling.around = live.standing()
    live.loaded = loaded
    if live.prepared:
        extend_prelude(live, loaded.program.prelude)
