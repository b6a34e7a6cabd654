"""What Python that is not drawn calls of torch while it runs: rows under the statement it runs in, and its backwards.

A recorded run of a trusted program looks inside its code; a plain one never does. The first calls of a statement are
noted, what follows them runs as ever.
"""

import functools
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple, cast

import msgspec
import torch
from torch import Tensor, nn
from torch.compiler import is_compiling
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from gradstudio.engine.access import FILENAME
from gradstudio.engine.backward.backward_statement import reductions_of
from gradstudio.engine.backward.missing_gradients import explain_missing, note_writes
from gradstudio.engine.bring.forward_recorder import tensors_in
from gradstudio.engine.bring.layer_constructors import is_stock_inside
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.wire_edges import Call, Source, edge_of
from gradstudio.engine.live.call_frames import Execution
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.memory.memory_sampler import allocated_bytes
from gradstudio.engine.record.backward_watch import watched_backward
from gradstudio.engine.record.call_facts import BACKWARD, GRAD, is_transforming, may_write, out_of, parts_of
from gradstudio.engine.record.script_files import ScriptFiles
from gradstudio.engine.run.trace_rows import Pending
from gradstudio.engine.script.compiled_steps import Step, source_of
from gradstudio.graph.groups.code_ids import CodeCall, code_call_id
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.model import Statement
from gradstudio.protocol.messages.backward_trace import BackwardTraced

MOST_CALLS = 400
"""So many are noted of one execution of a statement."""
MOST_BYTES = 1 << 26
"""Of values that wait for their summaries."""


class Telling(NamedTuple):
    """Where what is found goes.

    Attributes:
        enqueue: takes a row; `flush` has those that wait summarised and sent.
        traced: takes the record of a backward.
    """

    enqueue: Callable[[Pending], None]
    flush: Callable[[], None]
    traced: Callable[[BackwardTraced], None]


class InsideCalls(TorchFunctionMode):
    """Notes what one execution of a statement calls, while it is in force."""

    def __init__(self, live: Live, execution: Execution, telling: Telling) -> None:
        """Nothing is noted yet."""
        super().__init__()
        self._live, self._execution, self._telling = live, execution, telling
        self._turns = live.cursor.turns
        self._made: Any = WeakIdKeyDictionary()  # by tensor, who gave it
        self._silent = self._bytes = self._count = 0
        self._began = 0.0
        self._within: list[tuple[nn.Module, Call | None, float]] = []
        self._only: Pending | None = None

    # ------------------------------------------------------------------ calls

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call it, and note what it gave."""
        kwargs = kwargs or {}
        if self._looks_away():
            return func(*args, **kwargs)
        if func is Tensor.backward:
            return self._backward("torch.Tensor.backward", args, kwargs, functools.partial(func, *args, **kwargs))
        name = getattr(func, "__name__", "")
        if may_write(name, args, kwargs):
            self._flush()
        given = tensors_in((args, kwargs))
        call = self._call(given)
        since = time.perf_counter()
        result = func(*args, **kwargs)
        outputs = parts_of(result)
        if outputs and not _is_asked(func, name):
            self._note(_path_of(func, name), tuple(outputs), call, since)
        return result

    def _looks_away(self) -> bool:
        """Whether what is called now is not noted; what is compiled asks first, and finds a constant."""
        return is_compiling() or bool(self._silent) or self._count >= MOST_CALLS or is_transforming()

    def _call(self, given: list[Tensor]) -> Call | None:
        """What goes into the next call; None when nothing of it requires grad."""
        edges = [
            edge_of(str(place), self._made.get(tensor), tensor)
            for place, tensor in enumerate(given)
            if tensor.requires_grad
        ]
        if not edges:
            return None
        return Call(ItemId(""), self._turns, tuple(edges), self._execution.call)

    def _note(self, path: str, outputs: tuple[Any, ...], call: Call | None, since: float) -> None:
        ended = time.perf_counter()
        at = self._place(is_step=path.endswith(".step"))
        if at is None:
            return
        file, line = at
        above = self._execution.step.statement
        item = code_call_id(CodeCall(above.node, file, line, self._count, path))
        self._count += 1
        if call is not None:
            call.node = item
            call.settle()
        step = Step(_statement(above, item, path, line), _NO_TEXT, None, True, ())
        live = self._live
        entry = Pending(
            step, outputs, self._turns, ended - since, live.pass_number, time.monotonic(), allocated_bytes()
        )
        entry.needs, entry.call = call is not None, call
        self._tell_first()
        self._only = entry if self._count == 1 else None
        if self._only is None:
            self._telling.enqueue(entry)
        for place, output in enumerate(outputs):
            if isinstance(output, Tensor):
                self._made[output] = (item, place)
                self._bytes += output.nbytes if output.layout is torch.strided and not output.is_nested else 0
        if self._bytes > MOST_BYTES:
            self._flush()

    def _tell_first(self) -> None:
        if self._only is not None:
            self._telling.enqueue(self._only)
            self._only = None

    def _flush(self) -> None:
        """Have what waits summarised, before something can write into it."""
        self._bytes = 0
        self._tell_first()
        with self._silence():
            self._telling.flush()

    # ------------------------------------------------------------------ layers, optimizers

    def _before_layer(self, module: nn.Module, args: Any) -> None:
        """A layer of torch's own is one call, whatever runs inside it."""
        if not self._looks_away() and _is_layer(module):
            if getattr(module, "inplace", False):
                self._flush()
            self._within.append((module, self._call(tensors_in(args)), time.perf_counter()))
            self._silent += 1

    def _after_layer(self, module: nn.Module, args: Any, result: Any) -> None:
        if is_compiling() or not self._within or self._within[-1][0] is not module:
            return
        _, call, since = self._within.pop()
        self._silent -= 1
        outputs = parts_of(result) if result is not None else []
        if outputs:
            self._note(f"torch.nn.{type(module).__name__}", tuple(outputs), call, since)

    def _before_step(self) -> None:
        if not self._silent:
            self._flush()
            self._began = time.perf_counter()
        self._silent += 1

    def _after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._silent -= 1
        if not self._silent and self._count < MOST_CALLS:
            self._note(f"torch.optim.{type(optimizer).__name__}.step", (), None, self._began)

    # ------------------------------------------------------------------ backwards

    def _backward(self, path: str, args: Any, kwargs: Any, run: Callable[[], Any]) -> Any:
        """Run a backward under the hooks of the engine's own."""
        live = self._live
        self._flush()
        values = _Values(live, self._made, self._telling.traced)
        visible, live.gradients.visible = live.gradients.visible, None
        with self._silence():
            with clean_modes():
                note_writes(live)
            try:
                step, reductions = self._execution.step, reductions_of(live)
                return watched_backward(values, step.id, path, args, kwargs, run, reductions)
            finally:
                live.gradients.visible = visible
                with clean_modes():
                    explain_missing(live)

    # ------------------------------------------------------------------ in force

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Be told of layers, optimizers and backwards; all is as it was behind it."""
        undo = [(torch.autograd, name, getattr(torch.autograd, name)) for name in ("backward", "grad")]
        for owner, name, plain in undo:
            setattr(owner, name, self._in_place_of(BACKWARD if name == "backward" else GRAD, plain))
        hooks = [
            register_module_forward_pre_hook(self._before_layer),
            register_module_forward_hook(self._after_layer, always_call=True),
            register_optimizer_step_pre_hook(lambda *_: self._before_step()),
            register_optimizer_step_post_hook(lambda optimizer, *_: self._after_step(optimizer)),
        ]
        try:
            with self:
                yield
            if self._execution.step.statement.operator == CODE:
                self._tell_first()  # else it is the statement itself
        finally:
            for hook in hooks:
                hook.remove()
            for owner, name, plain in undo:
                setattr(owner, name, plain)

    def _in_place_of(self, path: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._looks_away():
                return plain(*args, **kwargs)
            return self._backward(path, args, kwargs, lambda: plain(*args, **kwargs))

        return call

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """What runs in this is not noted."""
        self._silent += 1
        try:
            with out_of(self):
                yield
        finally:
            self._silent -= 1

    def _place(self, *, is_step: bool) -> tuple[str, int] | None:
        """The person's own line that is at work: its file, "" for the program's, and its number.

        None within what a library does for itself: making a layer, fetching a batch, what is in an optimizer's step.
        """
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            whose = _WHOSE.get(code) or _WHOSE.setdefault(code, _whose(code))
            if whose == "program":
                return "", frame.f_lineno
            if whose == "file":
                return _FILES.short(code.co_filename), frame.f_lineno
            if whose == "inner" and not is_step:
                return None
            frame = frame.f_back
        return "", self._execution.step.statement.line


class _Values:
    """The live state, as who watches a backward wants it."""

    def __init__(self, live: Live, made: Any, traced: Callable[[BackwardTraced], None]) -> None:
        self._live, self._told = live, traced
        self.gradients = live.gradients
        self._made = made

    def source_of(self, tensor: Tensor) -> Source | None:
        """Who gave a tensor."""
        if (found := self._made.get(tensor)) is not None:
            return cast(Source, found)
        live = self._live
        names = (name for name, value in live.namespace.items() if value is tensor)
        return next((live.binder[name] for name in names if name in live.binder), None)

    def look_at_leaves(self) -> None:
        """See what was done to `.grad` since."""
        self.gradients.observe()

    def traced(self, backward: BackwardTraced) -> None:
        """A backward was recorded."""
        live = self._live
        live.autograd_rows.extend(backward.rows)
        turns, revision = live.cursor.turns, live.loaded.revision
        self._told(msgspec.structs.replace(backward, revision=revision, turns=turns, pass_number=live.pass_number))


_FILES = ScriptFiles()
_WHOSE: dict[CodeType, str] = {}
_INNER = re.compile(r"[/\\]torch[/\\](utils[/\\]data|optim)[/\\]")
_LAYERS = re.compile(r"[/\\]torch[/\\]nn[/\\]modules[/\\]")
_NO_TEXT = source_of("", 1)


def _whose(code: CodeType) -> str:
    """Whose a frame's code is."""
    name = code.co_filename
    if name == FILENAME:
        return "program"
    if _FILES.is_theirs(name):
        return "file"
    is_making = code.co_name in ("__init__", "reset_parameters") and _LAYERS.search(name)
    return "inner" if is_making or _INNER.search(name) else "library"


def _statement(above: Statement, item: ItemId, path: str, line: int) -> Statement:
    return Statement(
        node=item,
        operator=path,
        text="",
        address=f"{above.address}/{path}",
        line=line,
        names=(),
        repeated=above.repeated,
    )


def _is_layer(module: nn.Module) -> bool:
    if module._forward_pre_hooks:
        return False  # they run between what tells of the call and its forward, and what they do is noted
    return is_stock_inside(module) and not isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict)


def _path_of(func: Any, name: str) -> str:
    """How what was called is spelled in Python, as far as it says so itself."""
    if name == "__get__":
        return f"torch.Tensor.{func.__self__.__name__}.__get__"
    where = getattr(func, "__module__", None)
    if where in (None, "torch._tensor", "torch._C"):
        return f"torch.Tensor.{name}" if hasattr(func, "__objclass__") or where == "torch._tensor" else f"torch.{name}"
    return f"{'torch' if where == 'torch.functional' else where}.{name}"


def _is_asked(func: Any, name: str) -> bool:
    """Whether an attribute was only read: what is there is no result."""
    return name == "__get__" and func.__self__.__name__ in ("data", "grad", "real", "imag", "_base")
