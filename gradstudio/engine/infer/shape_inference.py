"""Shapes before a run (semantics §16): a hint, worked out on stand-ins, never a wrong shape.

Values that the text alone decides and that are tiny are computed for real; everything drawn,
made or large is a meta tensor. What depends on such a value's numbers is "known after a run".
The live namespace and the generators are never touched.
"""

import warnings
from collections.abc import Callable

import psutil
import torch

from gradstudio.engine.infer.backward_inference import refused_graph
from gradstudio.engine.infer.call_inference import CallInference, Heard, InsideMemo
from gradstudio.engine.infer.inference_memo import MAX_RECIPES, Memo, Recipes, forget_modules
from gradstudio.engine.infer.inference_pass import InferencePass
from gradstudio.engine.infer.pass_checkpoints import Checkpoints
from gradstudio.engine.infer.statement_inference import Way
from gradstudio.engine.meta.fake_tensors import WarmUp
from gradstudio.engine.script.compiled_steps import Item
from gradstudio.program.python_sizes import too_big
from gradstudio.protocol.messages.inference import Infer, Inferred, PortInference, TryWire, WireTried


class Inference:
    """Answers `Infer`; remembers what it worked out, so an edit costs only what follows it."""

    def __init__(self, warm_up: WarmUp | None = None, heard: Heard = lambda _node, _line: None) -> None:
        """Nothing is known.

        Args:
            warm_up: fake tensors are used as soon as it is done; without one, always.
            heard: is told of each statement, and of its line, before it is tried.
        """
        self._heard = heard
        self._memo: Memo = {}
        self._insides: InsideMemo = {}
        self._recipes: Recipes = {}
        self._checkpoints = Checkpoints()
        self._warm_up = warm_up
        self._baseline = int(psutil.Process().memory_info().rss)

    def infer(self, request: Infer, load_file: Callable[..., object]) -> Inferred:
        """Shape, dtype and device of every output that can be told, refusals, and what only a run tells."""
        if request.program is None:
            return Inferred(document=request.document, revision=request.revision, ports=())
        generators = torch.get_rng_state()
        dtype = torch.get_default_dtype()
        way = Way(run_small=request.run_small, fakes=self._warm_up is None or self._warm_up.done)
        try:
            with torch.enable_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                calls = CallInference(request.program, self._insides, self._heard)
                walk = InferencePass(request.program, self._memo, self._recipes, way, load_file, calls)
                items = self._checkpoints.follow(walk, request.program, way)
                forget_modules(walk.used, walk.names.changed_modules)
                for found in too_big(request.program.statements):
                    walk.ports[found.node, 0] = PortInference(node=found.node, refusal=found.reason)
                if not any(port.refusal for port in walk.ports.values()):
                    self._look_back(items, walk)
                needs = walk.needs.found(self._baseline)
        finally:
            torch.set_default_dtype(dtype)
            torch.set_rng_state(generators)
        self._memo = walk.used
        self._insides = calls.used
        if len(self._recipes) > MAX_RECIPES:
            self._recipes.clear()
        ports = tuple(walk.ports.values())
        return Inferred(document=request.document, revision=request.revision, ports=ports, needs=needs)

    def _look_back(self, items: tuple[Item, ...], walk: InferencePass) -> None:
        """Say where a backward is refused for what was done to its graph."""
        if (refused := refused_graph(items, walk.prelude)) is not None:
            node, words = refused
            walk.ports[node, 0] = PortInference(node=node, refusal=words)

    def try_wire(self, request: TryWire, load_file: Callable[..., object]) -> WireTried:
        """What torch would say at the target if the wire were there; the memo stays that of the program."""
        memo, insides, checkpoints = self._memo, self._insides, self._checkpoints
        self._checkpoints = Checkpoints()
        answer = self.infer(Infer(revision=0, program=request.program), load_file)
        self._memo, self._insides, self._checkpoints = memo, insides, checkpoints
        ports = tuple(port for port in answer.ports if port.node == request.target)
        refusal = next((port.refusal for port in ports if port.refusal), "")
        return WireTried(request=request.request, target=request.target, refusal=refusal, outputs=ports)
