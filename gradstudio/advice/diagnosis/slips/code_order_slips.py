"""Order and modes in what is kept as code, by its text: steps between the wrong statements, evaluations in training."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.advice.diagnosis.slips.code_texts import code_texts
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.graph.text.drawn_bodies import is_body
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.records import TensorRecord

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.While
ACTS = frozenset({"backward", "step", "zero_grad"})
OPTIMIZER = re.compile(r"opt", re.IGNORECASE)
EVALUATING = re.compile(r"(^|_)(eval|evaluate|evaluation|valid|validate|validation|test|predict|accuracy)(_|$)")
NO_GRAPH = re.compile(r"\b(no_grad|inference_mode)\b")
MODEL = re.compile(r"(^|[._])(model|net|network|classifier)$")
SWITCHED = re.compile(r"\.eval\(|\.train\((?!\))|\btraining\b")
"""What may switch to evaluation."""
WITH_MODES = re.compile(r"^(Dropout\w*|BatchNorm\w*|dropout\w*|batch_norm)$")
EVAL, TRAIN = ".eval(", ".train("
DRAWN_CONDITION = "range(bool("
QUIET = ("clip_grad", "parameters", "print", "item")
"""What goes neither backward nor forward."""
MODES = frozenset({"eval", "train"})


class _Act(NamedTuple):
    """A statement that does one of `ACTS`, of whom, and which statement of its block it is."""

    word: str
    of: str
    at: int
    line: int


def of_order(graph: Graph) -> Iterator[Finding]:
    """Steps that find no gradients, or those of the turn before; one of each piece of code at most."""
    for item, text in code_texts(graph).items():
        if "step" not in text:
            continue
        blocks = ((part, part.body) for part in ast.walk(syntax_of(text)) if isinstance(part, Loop | Function))
        found = [finding for owner, body in blocks for finding in _of_block(item, owner, body)]
        yield from found[:1]


def of_modes(graph: Graph, facts: RunFacts) -> Iterator[Finding]:
    """Evaluations in training mode, and trainings in eval mode, where no text of the program switches it."""
    texts = list(code_texts(graph).items())
    whole = "\n".join(text for _, text in texts)
    if not NO_GRAPH.search(whole) or _switches_in_drawing(graph):
        return
    if not SWITCHED.search(whole):
        yield from _never_evaluates(texts, whole, facts)
    elif TRAIN not in whole and EVAL in whole:
        yield from _never_trains_again(texts, facts)


def _switches_in_drawing(graph: Graph) -> bool:
    """Whether a mode is switched by what is drawn for itself; bodies of functions in code are in their texts."""
    graphs = [graph, *(one.graph for name, one in graph.definitions.items() if not is_body(name))]
    nodes = [node for one in graphs for node in one.nodes.values()]
    words = {node.operator.rpartition(".")[2] for node in nodes}
    return not MODES.isdisjoint(words | {node.literals.get("name", "").strip("\"'") for node in nodes})


def _flat(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, those under its `with` among them."""
    return [inner for one in body for inner in (_flat(one.body) if isinstance(one, ast.With) else [one])]


def _of_block(item: ItemId, owner: Loop | Function, block: Sequence[ast.stmt]) -> Iterator[Finding]:
    for body in (_flat(block), _with_conditional_steps(_flat(block))):
        acts = [act for at, one in enumerate(body) if (act := _act(one, at)) is not None]
        for step in (act for act in acts if act.word == "step" and OPTIMIZER.search(act.of)):
            if _is_emptied(body, acts, step):
                yield _idle(item, step, "zero_grad stands between the backward and the step")
    yield from _of_early_steps(item, owner, _flat(block))


def _with_conditional_steps(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, those among them that stand under an `if` with a step."""
    found = list[ast.stmt]()
    for one in body:
        inner = _flat(one.body) if isinstance(one, ast.If | ast.For) and _is_condition(one) else []
        acts = (_act(part, 0) for part in inner)
        found += inner if any(act is not None and act.word == "step" for act in acts) else [one]
    return found


def _is_condition(one: ast.If | ast.For) -> bool:
    """Whether it is an `if` without an else; a program prints one that is drawn as a loop of one turn or none."""
    return not one.orelse and (isinstance(one, ast.If) or ast.unparse(one.iter).startswith(DRAWN_CONDITION))


def _is_emptied(body: Sequence[ast.stmt], acts: Sequence[_Act], step: _Act) -> bool:
    """Whether the gradients of the backward before a step are zeroed in between."""
    backwards = [act.at for act in acts if act.word == "backward"]
    zeros = [act.at for act in acts if act.word == "zero_grad" and act.of == step.of]
    between = [at for at in zeros if at < step.at and any(back < at for back in backwards)]
    if not between or any(between[-1] < back < step.at for back in backwards):
        return False
    return _is_quiet(body[between[-1] + 1 : step.at])


def _of_early_steps(item: ItemId, owner: Loop | Function, body: Sequence[ast.stmt]) -> Iterator[Finding]:
    acts = [act for at, one in enumerate(body) if (act := _act(one, at)) is not None]
    backwards = [act.at for act in acts if act.word == "backward"]
    for step in (act for act in acts if act.word == "step" and OPTIMIZER.search(act.of)):
        zeros = [act.at for act in acts if act.word == "zero_grad" and act.of == step.of]
        if not backwards or min(backwards) < step.at or _steps_again(acts, step):
            continue
        elif any(at < step.at for at in zeros) and (isinstance(owner, Loop) or len(backwards) == 1):
            yield _idle(item, step, "the step stands before the backward, and zero_grad before both")


def _act(statement: ast.stmt, at: int) -> _Act | None:
    called = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Attribute) or called.func.attr not in ACTS:
        return None
    return _Act(called.func.attr, ast.unparse(called.func.value), at, statement.lineno)


def _steps_again(acts: Sequence[_Act], step: _Act) -> bool:
    return any(act.word == "step" and act.of == step.of and act.at > step.at for act in acts)


def _is_quiet(between: Sequence[ast.stmt]) -> bool:
    """Whether nothing there can go backward unseen: calls of torch's and prints alone."""
    called = [part.func for one in between for part in ast.walk(one) if isinstance(part, ast.Call)]
    return all(ast.unparse(one).rpartition(".")[2].startswith(QUIET) for one in called)


def _idle(item: ItemId, step: _Act, cause: str) -> Finding:
    return Finding(
        "idle_step",
        "warning",
        item,
        f"{step.of} steps without gradients: {cause}",
        "What a backward computes is zeroed before a step uses it. The order is zero_grad, backward, step.",
        (item,),
        line=step.line,
    )


def _never_evaluates(texts: Sequence[tuple[ItemId, str]], whole: str, facts: RunFacts) -> Iterator[Finding]:
    named = [(item, one) for item, one in _functions(texts) if EVALUATING.search(one.name)]
    inside = sum(len(NO_GRAPH.findall(ast.unparse(one))) for _, one in named)
    if any(TRAIN in ast.unparse(one) for _, one in named):
        return
    if not named or inside != len(NO_GRAPH.findall(whole)) or not _runs_without_graph(facts):
        return
    item, function = named[0]
    yield Finding(
        "wrong_mode",
        "warning",
        item,
        f"The model is in training mode in {function.name}: eval() is missing",
        "Under no_grad dropout still drops, and batch normalisation goes by this batch and takes it into its running "
        "averages. Call eval() of the model there, and train() where training goes on.",
        (item,),
        line=function.lineno,
    )


def _never_trains_again(texts: Sequence[tuple[ItemId, str]], facts: RunFacts) -> Iterator[Finding]:
    for item, function in _functions(texts):
        named = [part for part in ast.walk(function) if isinstance(part, ast.Attribute)]
        owners = [ast.unparse(part.value) for part in named if part.attr == "eval"]
        evaluates = EVALUATING.search(function.name) or NO_GRAPH.search(ast.unparse(function))
        if evaluates and any(map(MODEL.search, owners)) and _trains_behind_evaluation(facts):
            yield Finding(
                "wrong_mode",
                "warning",
                item,
                f"The model stays in eval mode behind {function.name}: train() is missing",
                "eval() holds until train() is called. Dropout does nothing from then on, and batch normalisation "
                "keeps its old averages. Call train() of the model where an epoch of training begins.",
                (item,),
                line=function.lineno,
            )
            return


def _functions(texts: Sequence[tuple[ItemId, str]]) -> Iterator[tuple[ItemId, Function]]:
    for item, text in texts:
        for part in ast.walk(syntax_of(text)):
            if isinstance(part, Function):
                yield item, part


def _modal_calls(facts: RunFacts) -> Iterator[tuple[int, bool]]:
    """Calls in code of what goes by the mode: after how many backwards, and whether they were recorded for one."""
    backwards = 0
    for event in facts.events:
        if isinstance(event, BackwardTraced):
            backwards += 1
            continue
        call = code_call(event.node)
        first = next(iter(event.outputs), None)
        if call is not None and WITH_MODES.match(call.word) and isinstance(first, TensorRecord):
            yield backwards, first.requires_grad


def _runs_without_graph(facts: RunFacts) -> bool:
    calls = list(_modal_calls(facts))
    return any(learns for _, learns in calls) and any(not learns and behind for behind, learns in calls)


def _trains_behind_evaluation(facts: RunFacts) -> bool:
    """Whether they are recorded for a backward again, behind where they were not."""
    is_behind = False
    for _, learns in _modal_calls(facts):
        if learns and is_behind:
            return True
        is_behind = is_behind or not learns
    return False
