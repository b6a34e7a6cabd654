"""Distribute: the text of a program that trains, so that several processes train it together.

What was there stays as it was typed: the processes join before the first statement, models that learn are wrapped
before their parameters are read, the loader that the loop goes over gives each process its share, and one process
alone prints and saves.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Final
from typing import Literal as OneOf

from gradstudio.graph.model import ROOT, Graph
from gradstudio.graph.names import bound_names, fresh_name
from gradstudio.graph.text.code_text import lines_within_texts
from gradstudio.program.errors import NoForm
from gradstudio.program.write import write

Way = OneOf["ddp", "fsdp"]
DISTRIBUTED: Final = "torch.distributed"
JOIN: Final = "init_process_group"
WRAP: Final = "nn.parallel.DistributedDataParallel"
SHARD_IMPORT: Final = "import torch.distributed.fsdp"
SHARD: Final = "torch.distributed.fsdp.fully_shard"
SAMPLER: Final = "torch.utils.data.DistributedSampler"
LOADER_WORDS: Final = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler")
"""What a DataLoader is given, in its order."""
PARAMETERS: Final = frozenset({"parameters", "named_parameters"})
HARMLESS: Final = PARAMETERS | {
    *("train", "eval", "zero_grad", "state_dict", "load_state_dict", "requires_grad_", "to", "buffers"),
    *("named_buffers", "modules", "named_modules", "children", "named_children"),
}
"""What a loop may ask of a model itself, and not of the wrapper around it."""
NO_GRADIENTS: Final = frozenset({"no_grad", "inference_mode"})
SAVES: Final = frozenset({"save", "save_file", "save_model"})
NO_LOOP: Final = (
    "There is no backward in a loop of the program itself to share out. Add a training first (Graph ▸ Add training)."
)
NO_MODEL: Final = (
    "Nothing that the loop calls is a module whose parameters are read ('model.parameters()'): "
    "the processes average gradients of modules. Put what learns into one."
)
JOINED: Final = "The program joins several processes already: 'init_process_group' stands in it."
OWN_SAMPLER: Final = "'{name}' has a sampler of its own: take it away, or give each process its share there."
ASIDE: Final = (
    "'{name}.{word}' goes past the call of '{name}', which alone averages gradients over processes. "
    "Do it in its forward, or call '{name}(…)'."
)
SAVED_IN_PARTS: Final = (
    "'{text}' would save the part of one process: fully_shard shares the parameters out. Take it away, "
    "or choose DistributedDataParallel."
)


RUNS_AS_WRITTEN: Final = (
    "This program joins its processes itself: it runs as it is written, and tells what it prints. It keeps no curves "
    "and no checkpoint; the program from before Distribute… does, trained in the same processes."
)


def joins_processes(graph: Graph, *, stem: str = "program") -> bool:
    """Whether a program joins several processes by itself; `stem`: under which it is printed anyway."""
    return JOIN in write(graph, stem=stem).code


def distributed(graph: Graph, way: Way = "ddp") -> str:
    """The text with which several processes train together what one trains now.

    Args:
        graph: the program.
        way: "ddp": each process holds the whole model, and gradients are averaged; "fsdp": parameters are shared out.

    Raises:
        NoForm: there is no training, or one that this cannot share out; says what to do.
    """
    if joins_processes(graph):
        raise NoForm(JOINED)
    script = write(graph)
    lines = [script.lines[item] for item in graph.order(ROOT) if item in script.lines]
    return _Writer(script.code, lines, set(bound_names(graph)), graph.header.device, way).text()


class _Writer:
    """Edits of a text, by line: what is put before one, what takes the place of a part of one."""

    def __init__(self, code: str, lines: list[int], names: set[str], device: str, way: Way) -> None:
        self._lines = code.rstrip("\n").split("\n")
        self._taken, self._device, self._way = names, device, way
        self._body = [one for one in ast.parse(code).body if (one.end_lineno or one.lineno) >= min(lines, default=1)]
        self._before: dict[int, list[str]] = {}
        self._parts: list[tuple[ast.expr, str]] = []
        self._guarded: list[ast.stmt] = []
        self._rank = ""

    def text(self) -> str:
        """The whole."""
        loop = next((one for one in self._body if isinstance(one, ast.For) and _has_backward(one)), None)
        if loop is None:
            raise NoForm(NO_LOOP)
        models = self._models(loop)
        if not models:
            raise NoForm(NO_MODEL)
        self._share_out(loop)
        self._wrap(models, loop)
        self._guard(self._body, set(models))
        self._join()
        return "\n".join(self._edited()) + "\n"

    # ------------------------------------------------------------------ what is put in

    def _join(self) -> None:
        """The processes meet before the first statement, and part behind the last."""
        is_cuda = self._device.startswith("cuda")
        first = [f'{DISTRIBUTED}.{JOIN}("{"nccl" if is_cuda else "gloo"}")']
        if self._way == "fsdp":
            self._before[self._behind_torch()] = [SHARD_IMPORT]
        if is_cuda:
            first.append(f"torch.cuda.set_device({DISTRIBUTED}.get_node_local_rank())")
        if self._rank:
            first.append(f"{self._rank} = {DISTRIBUTED}.get_rank()")
        place = self._body[0].lineno
        self._before[place] = first + self._before.get(place, [])

    def _behind_torch(self) -> int:
        """The line in front of which another module of torch's is imported."""
        heads = enumerate(self._lines[: self._body[0].lineno], 1)
        return max((line for line, text in heads if text.startswith("import torch")), default=0) + 1

    def _wrap(self, models: list[str], loop: ast.For) -> None:
        """Each model is wrapped before its parameters are read; the loop calls the wrapper."""
        for model in models:
            place = next(one for one in self._body if one is loop or model in _read_for_parameters(one))
            wrapper = model
            if self._way == "ddp":
                wrapper = fresh_name(self._taken, "replica" if len(models) == 1 else f"{model}_replica")
                self._put_before(place, f"{wrapper} = {WRAP}({model})")
            else:
                self._put_before(place, f"{SHARD}({model})")
            for call in _calls_that_learn(loop.body):
                if isinstance(call.func, ast.Name) and call.func.id == model:
                    self._parts.append((call.func, wrapper))
                elif (word := _asked_of(call.func, model)) and word not in HARMLESS:
                    raise NoForm(ASIDE.format(name=model, word=word))

    def _share_out(self, loop: ast.For) -> None:
        """The loaders that the loops around the backward go over give each process its share, anew in each epoch."""
        around = [one for one in ast.walk(loop) if isinstance(one, ast.For) and _has_backward(one)]
        for outer, inner in zip([None, *around], around, strict=False):
            for made in self._loaders_of(inner):
                sampler = self._share(made)
                if outer is not None:
                    epoch = self._target_of(outer)
                    self._before.setdefault(outer.body[0].lineno, []).append(
                        f"{' ' * outer.body[0].col_offset}{sampler}.set_epoch({epoch})"
                    )

    def _share(self, made: ast.Assign) -> str:
        """Give a loader a sampler; the sampler's name."""
        call = made.value
        assert isinstance(call, ast.Call)
        words: dict[str | None, ast.expr] = dict(zip(LOADER_WORDS, call.args, strict=False))
        words |= {one.arg: one.value for one in call.keywords}
        if "sampler" in words or "batch_sampler" in words:
            raise NoForm(OWN_SAMPLER.format(name=ast.unparse(made.targets[0])))
        shuffle = ast.unparse(words["shuffle"]) if "shuffle" in words else "False"
        drops = f", drop_last={ast.unparse(words['drop_last'])}" if "drop_last" in words else ""
        dataset = self._named(made, words["dataset"], "dataset")
        sampler = fresh_name(self._taken, "sampler")
        self._put_before(made, f"{sampler} = {SAMPLER}({dataset}, shuffle={shuffle}{drops})")
        share = self._share_of_batch(made, words["batch_size"]) if "batch_size" in words else ""
        given = [dataset] * (len(call.args) > 0) + [share] * (len(call.args) > 1)
        kept = [one for one in call.keywords if one.arg != "shuffle"]
        named = {"batch_size": share, "dataset": dataset}
        given += [f"{one.arg}={named[one.arg]}" if one.arg in named else ast.unparse(one) for one in kept]
        self._parts.append((made.value, f"{ast.unparse(call.func)}({', '.join([*given, f'sampler={sampler}'])})"))
        return sampler

    def _named(self, statement: ast.stmt, value: ast.expr, name: str) -> str:
        """What reads a value of a statement twice: its own name, else one that is given to it before."""
        text = ast.unparse(value)
        if isinstance(value, ast.Name):
            return text
        name = fresh_name(self._taken, name)
        self._put_before(statement, f"{name} = {text}")
        return name

    def _share_of_batch(self, made: ast.Assign, size: ast.expr) -> str:
        """What one process learns from of a batch: a step is over as many rows as before, as in the training script."""
        text = ast.unparse(size)
        if isinstance(size, ast.Constant) and size.value in (None, 1):
            return text
        share = fresh_name(self._taken, "share")
        whole = text if isinstance(size, ast.Constant | ast.Name) else f"({text})"
        self._put_before(made, f"{share} = max(1, {whole} // {DISTRIBUTED}.get_world_size())")
        return share

    def _guard(self, statements: Iterable[ast.stmt], models: set[str]) -> None:
        """One process alone prints and saves."""
        for one in statements:
            if _writes(one):
                reads = {name.id for name in ast.walk(one) if isinstance(name, ast.Name)}
                is_sharded = self._way == "fsdp" and not models.isdisjoint(reads)
                if is_sharded and not _is_print(one):
                    raise NoForm(SAVED_IN_PARTS.format(text=ast.unparse(one)))
                if not is_sharded:  # else all have to take part in reading what is shared out
                    self._guarded.append(one)
            elif not isinstance(one, ast.FunctionDef | ast.ClassDef):
                for field in ("body", "orelse"):
                    self._guard(getattr(one, field, []), models)
        if self._guarded and not self._rank:
            self._rank = fresh_name(self._taken, "rank")

    # ------------------------------------------------------------------ what stands in the text

    def _models(self, loop: ast.For) -> list[str]:
        """Modules whose parameters are read, and which the loop calls."""
        called = {_root(one.func) for one in _calls_that_learn(loop.body)}
        read = [name for one in self._body for name in _read_for_parameters(one)]
        return [name for name in dict.fromkeys(read) if name in called]

    def _loaders_of(self, loop: ast.For) -> Iterator[ast.Assign]:
        """The statements that make the loaders a loop goes over."""
        over = {one.id for one in ast.walk(loop.iter) if isinstance(one, ast.Name)}
        for one in self._body:
            if isinstance(one, ast.Assign) and _root(one.targets[0]) in over and _word(one.value) == "DataLoader":
                yield one

    def _target_of(self, loop: ast.For) -> str:
        """What a loop counts its turns by: a name, or one that it gets."""
        if isinstance(loop.target, ast.Name) and loop.target.id != "_":
            return loop.target.id
        name = fresh_name(self._taken, "epoch")
        if isinstance(loop.target, ast.Name):
            self._parts.append((loop.target, name))
            return name
        raise NoForm(f"The loop over '{ast.unparse(loop.target)}' counts no epochs: a sampler is told their number.")

    # ------------------------------------------------------------------ the lines

    def _put_before(self, statement: ast.stmt, line: str) -> None:
        self._before.setdefault(statement.lineno, []).append(f"{' ' * statement.col_offset}{line}")

    def _edited(self) -> Iterator[str]:
        lines = dict(enumerate(self._lines, 1))
        for part, text in sorted(self._parts, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
            last = part.end_lineno or part.lineno
            head = lines[part.lineno].encode()[: part.col_offset].decode()
            tail = lines[last].encode()[part.end_col_offset :].decode()
            lines[part.lineno] = f"{head}{text}{tail}"
            for gone in range(part.lineno + 1, last + 1):
                del lines[gone]
        inside: dict[int, ast.stmt] = {
            line: one for one in self._guarded for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)
        }
        within_texts = lines_within_texts("\n".join(self._lines))
        before: ast.stmt | None = None
        for number, line in lines.items():
            yield from self._before.get(number, ())
            guarded = inside.get(number)
            if guarded is not None and (before is None or before.col_offset != guarded.col_offset):
                yield f"{' ' * guarded.col_offset}if {self._rank} == 0:"
            yield line if guarded is None or number in within_texts else f"    {line}"
            before = guarded
        yield f"{DISTRIBUTED}.destroy_process_group()"


def _has_backward(statement: ast.AST) -> bool:
    return any(_word(one) == "backward" and isinstance(one, ast.Call) for one in _walk(statement))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, definitions within left out."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        return
    yield node
    for one in ast.iter_child_nodes(node):
        yield from _walk(one)


def _calls_that_learn(body: Iterable[ast.stmt]) -> Iterator[ast.Call]:
    """The calls of a loop outside of what switches gradients off."""
    for one in body:
        if isinstance(one, ast.With) and any(_word(item.context_expr) in NO_GRADIENTS for item in one.items):
            continue
        if _writes(one):
            continue
        inner = [field for name in ("body", "orelse") for field in getattr(one, name, [])]
        yield from _calls_that_learn(inner)
        beside = [part for part in ast.iter_child_nodes(one) if part not in inner]
        yield from (call for part in beside for call in _walk(part) if isinstance(call, ast.Call))


def _read_for_parameters(statement: ast.stmt) -> list[str]:
    """The names whose parameters a statement reads: ``model.parameters()``, ``model.encoder.parameters()``."""
    calls = [one for one in _walk(statement) if isinstance(one, ast.Call) and _word(one) in PARAMETERS]
    return [name for one in calls if (name := _root(one.func))]


def _asked_of(function: ast.expr, name: str) -> str:
    """The method of a name, or of what is within it, that is called; "" of none."""
    return function.attr if isinstance(function, ast.Attribute) and _root(function) == name else ""


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes begins with; "" of anything else."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _word(node: ast.AST) -> str:
    """The last word of what is called."""
    if isinstance(node, ast.Call):
        return _word(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_print(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _word(statement.value) == "print"


def _writes(statement: ast.stmt) -> bool:
    """Whether a statement only prints, or saves a file."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return _is_print(statement) or _word(statement.value) in SAVES
