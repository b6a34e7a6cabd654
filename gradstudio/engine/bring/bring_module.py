"""Bringing a module: import, build, record one forward, write it down, and run what was written beside it."""

import ast
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.constructor_arguments import evaluate_arguments, read_arguments
from gradstudio.engine.bring.constructor_trace import SetUp
from gradstudio.engine.bring.errors import CannotBring, CodeFailed, Inexpressible, NotThere
from gradstudio.engine.bring.forward_recorder import Recorder, calls_in_use, plain_words, tensors_in
from gradstudio.engine.bring.forward_text import ForwardText, Recording, Writer
from gradstudio.engine.bring.layer_constructors import note_constructors, tensors_of
from gradstudio.engine.bring.leaf_statements import ModuleState
from gradstudio.engine.bring.tensor_storage import MOST_BYTES
from gradstudio.engine.bring.user_file import UsersFile, build, signature_text
from gradstudio.engine.bring.verification import Reference, Verdict, reference, run, verdict
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.module_import import BringModule, Brought, Fault, NotBrought

IMPORTS = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
_FAULTS: dict[type[CannotBring], Fault] = {NotThere: "usage", CodeFailed: "code", Inexpressible: "inexpressible"}
MOST_LINES = 3
"""Lines of the user's that a note names."""
CLOSE = 1e-4
"""Relative difference of outputs and gradients up to which a module still counts as brought; it is told."""


@dataclass(frozen=True)
class _Input:
    """One input: `word` is its keyword, "" by position; `name` the canvas's."""

    word: str
    name: str
    text: str
    value: Any


def bring(request: BringModule) -> Brought | NotBrought:
    """Carry out the request. This executes the user's code; whatever it raises is told, not raised."""
    file = UsersFile(Path(request.path))
    try:
        with file.at_home():
            return _Bringing(request, file).bring()
    except CannotBring as error:
        return NotBrought(
            fault=_FAULTS[type(error)], message=error.message, file=error.file, line=error.line, source=error.source
        )


class _Bringing:
    """One module on its way."""

    def __init__(self, request: BringModule, file: UsersFile) -> None:
        self._request, self._file = request, file
        self._notes: list[str] = []
        self._seed, self._seeded = request.seed, False

    def bring(self) -> Brought:
        """All of it.

        Raises:
            CannotBring: with the reason.
        """
        arguments = read_arguments(self._request.arguments, self._file)
        torch.manual_seed(self._seed)
        texts = _expressions(self._request.inputs)
        values = _values(texts)
        self._set_up = SetUp(self._file)
        with note_constructors(self._set_up.silence), _Seeds(self), self._set_up:
            before = torch.get_rng_state()
            module = self._file.load()
            if not self._seeded:
                torch.set_rng_state(before)  # what the file draws for itself does not count
            root = build(
                self._file, module, self._request.name, evaluate_arguments(arguments, vars(module), self._file)
            )
        if self._request.evaluate:
            root.eval()
        inputs = self._named(root, texts, values)
        _fit(root, self._request.name, inputs)
        self._materialise(root, inputs)
        recorder, recording = self._record(root, inputs)
        told = self._reference(root, recording)
        written, found = self._written(recorder, recording, told)
        return self._answer(root, recording, written, found)

    # -------------------------------------------------------------- running the module

    def _materialise(self, root: nn.Module, inputs: list[_Input]) -> None:
        """Lazy layers have no parameters before their first call."""
        lazy = any(isinstance(p, nn.parameter.UninitializedParameter) for p in root.parameters())
        if lazy:
            with self._file.blamed(), torch.no_grad():
                self._call(root, inputs)

    def _call(self, root: nn.Module, inputs: list[_Input]) -> Any:
        positional = [one.value for one in inputs if not one.word]
        return root(*positional, **{one.word: one.value for one in inputs if one.word})

    def _record(self, root: nn.Module, inputs: list[_Input]) -> tuple[Recorder, Recording]:
        """Record a forward; once more with the seed set directly before it when it draws random numbers."""
        state = {id(t): t.detach().clone() for t in tensors_of(root).values()}
        tensors = tensors_in([one.value for one in inputs])
        kept = [tensor.detach().clone() for tensor in tensors]
        recorder, output = self._recorded(root, inputs, tensors)
        if any(call.draws for call in recorder.calls):
            _put_back(root, state, tensors, kept)
            torch.manual_seed(self._seed)
            recorder, output = self._recorded(root, inputs, tensors)
        given = _given(root, recorder, state, self._set_up)
        self._notes += _asked(recorder)
        default = torch.get_default_dtype()
        recording = Recording(
            root=root,
            file=self._file,
            title=plain_words(type(root).__name__),
            stem=self._request.stem,
            inputs=tuple((one.name, one.text, one.value) for one in inputs),
            calls=recorder.calls,
            given=given,
            output=output,
            seed=self._seed,
            dtype="" if default == torch.float32 else str(default),
            remark="\n".join([self._remark(root, inputs), *_asked(recorder)]),
        )
        return recorder, recording

    def _recorded(self, root: nn.Module, inputs: list[_Input], tensors: list[Tensor]) -> tuple[Recorder, Any]:
        recorder = Recorder(root, self._file, tensors)
        with self._file.blamed(), recorder.watching():
            output = self._call(root, inputs)
        if not tensors_in(output):
            words = f"It gives {type(output).__name__}, in which there is no tensor: nothing can be drawn of it."
            raise Inexpressible(words)
        if not recorder.calls:
            raise Inexpressible("It calls nothing of torch: there is nothing to draw.")
        recorder.take(output)
        recorder.calls = calls_in_use(recorder.calls, output, {id(buffer) for buffer in root.buffers()})
        return recorder, output

    def _reference(self, root: nn.Module, recording: Recording) -> Reference:
        root.zero_grad(set_to_none=True)
        try:
            return reference(root, recording.output, tensors_in(recording.output))
        except RuntimeError as error:
            raise CodeFailed(f"The backward through it fails: {error}") from error

    # -------------------------------------------------------------- writing it down

    def _written(self, recorder: Recorder, recording: Recording, told: Reference) -> tuple[ForwardText, Verdict]:
        """The first way of writing that gives the module's numbers, else the nearest."""
        stored: frozenset[int] = frozenset()
        given = recording.given
        everything = frozenset((*given.leaves, *given.constants))
        while True:
            written = Writer(recording, stored).write()
            _small_enough(written)
            found = verdict(written, self._file, told)
            if found.exact or stored >= everything:
                return written, found
            more = found.changed - stored
            stored = stored | more if more else everything

    def _answer(self, root: nn.Module, recording: Recording, written: ForwardText, found: Verdict) -> Brought:
        if max(found.outputs, found.gradients) > CLOSE or found.changed:
            parts = ", ".join(found.parts[:5]) or "values of parameters"
            raise Inexpressible(f"What was recorded does not give the module's numbers when it is run: {parts} differ.")
        nodes, parameters = len(found.graph.nodes), len(list(root.parameters()))
        words = "output and gradients equal to the module's bit for bit"
        if not found.exact:
            words = f"not equal bit for bit: {', '.join(found.parts[:5])}"
        used = sum(id(parameter) in written.names for parameter in root.parameters())
        if used < parameters:
            self._notes.append(
                f"{parameters - used} of {parameters} parameters are not used for this input, and left out."
            )
        self._notes += _constants(recording, written)
        outcome = f"{recording.title}: {nodes} nodes, {used} parameters, {words}"
        tensors = {digest: tensor.data for digest, tensor in written.tensors.items()}
        return Brought(text=written.text, tensors=tensors, outcome=outcome, notes=tuple(self._notes), exact=found.exact)

    def _remark(self, root: nn.Module, inputs: list[_Input]) -> str:
        given = ", ".join(one.text if not one.word else f"{one.word}={one.text}" for one in inputs)
        mode = "train" if root.training else "eval"
        what = f"{plain_words(type(root).__name__)} of {plain_words(self._file.path.name)}"
        return (
            f"{what} as it computes {given[:200]}, in {mode} mode.\n"
            "Its branches and loops are drawn as they went for this input; sizes are plain numbers."
        )

    # -------------------------------------------------------------- inputs

    def _named(self, root: nn.Module, texts: list[tuple[str, str]], values: list[Any]) -> list[_Input]:
        """Each input with the name that `forward` gives it."""
        try:
            words = [p.name for p in inspect.signature(root.forward).parameters.values() if p.kind in (0, 1)]
        except (TypeError, ValueError):
            words = []
        found = []
        for number, ((word, text), value) in enumerate(zip(texts, values, strict=True)):
            name = word or (words[number] if number < len(words) else f"x{number}")
            found.append(_Input(word, name, text, value))
        return found


class _Seeds:
    """While this lasts, a seed that the user's code sets becomes the document's."""

    def __init__(self, bringing: _Bringing) -> None:
        self._bringing, self._plain = bringing, torch.manual_seed

    def __enter__(self) -> None:
        def noting(seed: int) -> torch.Generator:
            if 0 <= seed < 2**63:
                self._bringing._seed, self._bringing._seeded = seed, True
            return self._plain(seed)

        torch.manual_seed = noting

    def __exit__(self, *_: object) -> None:
        torch.manual_seed = self._plain


def _fit(root: nn.Module, name: str, inputs: list[_Input]) -> None:
    """Refuse inputs that `forward` does not take.

    Raises:
        NotThere: with what it takes, and how that is given.
    """
    if type(root).__call__ is not nn.Module.__call__:
        return
    try:
        signature = inspect.signature(root.forward)
    except (TypeError, ValueError):
        return
    words = {one.word: None for one in inputs if one.word}
    try:
        signature.bind(*(None for one in inputs if not one.word), **words)
    except TypeError as error:
        takes = ", ".join(signature_text(parameter) for parameter in signature.parameters.values())
        needs = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind in (0, 1, 3)]
        example = " ".join(f'--input "{word}=torch.randn(…)"' for word in needs)
        hint = f" Give the inputs, for example {example}." if needs else ""
        raise NotThere(f"The forward of {name} takes ({takes}): {error}.{hint}") from None


def _expressions(inputs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Keyword and expression of every input.

    Raises:
        NotThere: one is no Python.
    """
    found = []
    for text in inputs:
        try:
            call = ast.parse(f"f({text.strip()})", mode="eval").body
            assert isinstance(call, ast.Call)
        except (SyntaxError, ValueError, AssertionError) as error:
            raise NotThere(f"The input '{text}' is not Python: {error}.") from None
        found += [("", ast.unparse(node)) for node in call.args]
        found += [(word.arg, ast.unparse(word.value)) for word in call.keywords if word.arg]
    return found


def _values(texts: list[tuple[str, str]]) -> list[Any]:
    """What the inputs are: read by our reader, run as a program of ours.

    Raises:
        NotThere: one cannot be read, or torch refuses it.
    """
    names = [f"given_{number}" for number in range(len(texts))]
    lines = [f"{name} = {text}" for name, (_, text) in zip(names, texts, strict=True)]
    try:
        graph = read_script(IMPORTS + "\n".join(lines) + "\n").graph
        namespace = run(graph, {})
    except NotReadable as error:
        number = error.line - IMPORTS.count("\n") - 1
        text = texts[number][1] if 0 <= number < len(texts) else ""
        raise NotThere(f"The input '{text}' cannot be read: {error.reason}") from None
    except Inexpressible as error:
        raise NotThere(f"The inputs cannot be made: {error.message}") from None
    except Exception as error:  # noqa: BLE001 - the step boundary: torch may raise anything
        raise NotThere(f"The inputs cannot be made: {type(error).__name__}: {error}") from None
    return [namespace[name] for name in names]


def _given(root: nn.Module, recorder: Recorder, state: dict[int, Tensor], set_up: SetUp) -> ModuleState:
    layers: dict[int, tuple[nn.Module, str]] = {}
    called = {id(call.layer): (call.layer, call.layer_path) for call in recorder.calls if call.layer is not None}
    for layer, path in called.values():
        for tensor in tensors_of(layer).values():
            layers.setdefault(id(tensor), (layer, path))
    leaves: dict[int, tuple[str, Tensor]] = {}
    for path, tensor in tensors_of(root).items():
        leaves.setdefault(id(tensor), (path, tensor))
    makers = {identity: maker for identity, maker in recorder.makers.items() if maker is not None}
    return ModuleState(leaves, layers, makers, state, recorder.constants, set_up.calls)


def _put_back(root: nn.Module, state: dict[int, Tensor], tensors: list[Tensor], kept: list[Tensor]) -> None:
    """Parameters, buffers and inputs as they were before the forward."""
    with torch.no_grad():
        for tensor in tensors_of(root).values():
            if id(tensor) in state:
                tensor.copy_(state[id(tensor)])
        for tensor, value in zip(tensors, kept, strict=True):
            if not torch.equal(tensor, value):
                tensor.copy_(value)


def _small_enough(written: ForwardText) -> None:
    size = sum(len(tensor.data) for tensor in written.tensors.values())
    if size > MOST_BYTES:
        words = f"Its weights are {size / 2**20:,.0f} MiB; a document can hold {MOST_BYTES / 2**20:,.0f} MiB of them."
        raise Inexpressible(words)


def _asked(recorder: Recorder) -> list[str]:
    """Which lines of the user's looked at values, so that another input may be computed in another way."""
    found = [f"{file}, line {number}: {plain_words(text)[:80]}" for (file, number), text in recorder.asked.items()]
    if not found:
        return []
    more = f"; and {len(found) - MOST_LINES} more lines" if len(found) > MOST_LINES else ""
    shown = "; ".join(found[:MOST_LINES]) + more
    return [f"It looks at values of tensors, which may be others for another input: {shown}."]


def _constants(recording: Recording, written: ForwardText) -> list[str]:
    count = sum(identity in written.names for identity in recording.given.constants)
    if not count:
        return []
    several = "tensors that it uses come" if count > 1 else "tensor that it uses comes"
    return [re.sub(" +", " ", f"{count} {several} from outside of torch's calls and stand there as values.")]
