"""The engine's main loop: one request after the other, each answered, none able to end it."""

import traceback
from typing import assert_never

import msgspec
import torch

from gradstudio.engine.audit_wall import wall
from gradstudio.engine.bring.bring_module import bring
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.code.freedom import DRAWN_ONLY, freedom
from gradstudio.engine.code.meeting import meeting
from gradstudio.engine.code.program_input import Person
from gradstudio.engine.code.trusted_verbs import TrustedVerbs
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.experiment.data_look import DataLook
from gradstudio.engine.experiment.gradcheck import check
from gradstudio.engine.experiment.rerun import World, seed_for, stop_place
from gradstudio.engine.experiment.whatif import answer
from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.live.namespace_report import Reporter
from gradstudio.engine.live.program_updates import loaded_event
from gradstudio.engine.live.tensor_table import fetch
from gradstudio.engine.live.whole_telling import told_numbers
from gradstudio.engine.memory.memory_usage import memory_by_node
from gradstudio.engine.meta.fake_tensors import WarmUp
from gradstudio.engine.pipe import Inbox, Outbox
from gradstudio.engine.torch_docs import describe
from gradstudio.engine.torch_settings import settings
from gradstudio.engine.turns.checkpoints.checkpoint_file import checkpoint_bytes
from gradstudio.engine.turns.shared_stop import shared_stop
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.charts import Watch
from gradstudio.protocol.messages.debugging import Check, Checked, MemoryByNode, WeighMemory, WhatIf, WhatIfAnswered
from gradstudio.protocol.messages.events import Fetched, Log, Report
from gradstudio.protocol.messages.events import Loaded as LoadedEvent
from gradstudio.protocol.messages.inference import (
    DataLooked,
    Estimate,
    Estimated,
    Infer,
    Inferred,
    Inferring,
    LookAtData,
    PortInference,
    TryWire,
    WireTried,
)
from gradstudio.protocol.messages.module_import import BringModule, NotBrought
from gradstudio.protocol.messages.progress import CheckpointKept, KeepCheckpoint
from gradstudio.protocol.messages.ranks import Meet
from gradstudio.protocol.messages.requests import Answer, Collect, Do, Fetch, Load, Request, SampleMemory, Stop, Take
from gradstudio.protocol.messages.torch_docs import Describe, Described

NOWHERE = ItemId("")
NOTHING_LOADED = "No program was sent yet."


class Service:
    """Answers requests for ever; the process ends when its standard input does."""

    def __init__(self, inbox: Inbox, outbox: Outbox) -> None:
        """Begin with nothing loaded."""
        self._inbox, self._outbox = inbox, outbox
        self._engine = Engine(outbox.send, inbox.stopped)
        self._engine.runner.sampling.newest_watch = inbox.watch
        self._engine.runner.sampling.updates.newest = inbox.load
        self._engine.runner.sampling.pauses = inbox.pauses
        freedom.settle()
        self._verbs = TrustedVerbs(self._engine, outbox.send, Person(inbox.answer, inbox.stopped))
        self._warm_up = WarmUp()
        self._inference = Inference(self._warm_up, self._say_where)
        self._asked: Infer | None = None
        self._inferred: tuple[Program | None, tuple[PortInference, ...]] = None, ()
        self._to_look_at: tuple[LookAtData, Program | None] | None = None
        self._inferring = 0
        self._defaults = settings()

    def run(self) -> None:
        """Take requests until the process ends."""
        while True:
            while not self._inbox.waiting() and self._idle():
                pass
            request = self._inbox.take()
            try:
                self.handle(request)
            except Exception as error:  # noqa: BLE001 - the main loop: our own bug must not end the process
                text = "".join(traceback.format_exception(error))
                self._outbox.send(Log(level="error", text=f"The engine failed at {type(request).__name__}:\n{text}"))
                self._answer_anyway(request, f"The engine failed by its own fault: {error}")

    def _idle(self) -> bool:
        """Do some of what can wait until nobody asks for anything; True while there is more."""
        try:
            return self._engine.idle() or self._infer() or self._look()
        except Exception as error:  # noqa: BLE001 - the main loop: our own bug must not end the process
            text = "".join(traceback.format_exception(error))
            self._outbox.send(Log(level="error", text=f"The engine failed while it was idle:\n{text}"))
            return False

    def _infer(self) -> bool:
        """Load a little more of what inference needs, or infer; True while there is more to do."""
        request = self._asked
        if request is None:
            return False
        self._inferring = request.revision
        if not self._warm_up.done:
            self._warm_up.step()
            self._say_where()
            return True
        self._asked = None
        try:
            with torch.inference_mode(False), torch.enable_grad():
                inferred = self._inference.infer(request, self._engine.stored.load_file)
        except Exception:
            self._answer_anyway(request, "")
            raise
        self._inferred = request.program, inferred.ports
        self._outbox.send(inferred)
        return False

    def _look(self) -> bool:
        """Look at data that are asked for, unless something else is; False: there is no more to do."""
        if self._to_look_at is None:
            return False
        (request, program), self._to_look_at = self._to_look_at, None
        try:
            answered = self._looked_at(request, program)
        except Exception:
            self._answer_anyway(request, "")
            raise
        if answered is None:
            self._to_look_at = request, program
        else:
            self._outbox.send(answered)
        return False

    def _looked_at(self, request: LookAtData, program: Program | None) -> DataLooked | None:
        world, (inferred, ports) = self._world(), self._inferred
        if world is None or world.loaded.program is not program or inferred is not program:
            return DataLooked(request=request.request)
        if program.codes:
            return DataLooked(request=request.request, error=DRAWN_ONLY)
        return DataLook(request, world._replace(stopped=self._inbox.waiting), ports).answer()

    def _say_where(self, node: ItemId = NOWHERE, line: int = 0) -> None:
        """Where inference is, before it is tried: who waits for it knows that it goes on, and where it does not."""
        self._outbox.send(Inferring(revision=self._inferring, node=node, line=line))

    def handle(self, request: Request) -> None:
        """Carry out one request and send its answer."""
        match request:
            case Load():
                self._load(request)
            case Take():
                self._engine.stored.add(request.tensors)
            case Do():
                shared_stop.begin_verb(meeting.port)
                paused = self._verbs.do(request)
                shared_stop.end_verb()
                self._outbox.send(paused)
            case Infer():
                self._engine.stored.add(request.tensors)
                self._asked = self._with_program(request)  # it waits until nothing else is asked, or a newer one
            case Estimate():
                self._engine.settle()
                self._outbox.send(Estimated(needs=self._engine.needs()))
            case TryWire():
                self._engine.stored.add(request.tensors)
                self._inferring = request.request
                with torch.inference_mode(False), torch.enable_grad():
                    self._outbox.send(self._inference.try_wire(request, self._engine.stored.load_file))
            case LookAtData():
                loaded = self._engine.loaded
                self._to_look_at = request, loaded.program if loaded is not None else None
            case Describe():
                self._outbox.send(describe(request))
            case Fetch():
                self._engine.settle()
                with clean_modes():
                    self._outbox.send(fetch(self._engine.live, request))
            case Collect():
                self._outbox.send(self._collect(request))
            case SampleMemory():
                self._engine.sampler.every(request.every_ms)
            case Watch():
                self._engine.runner.sampling.watch(request, self._engine.runner.live)
            case WhatIf():
                self._outbox.send(self._what_if(request))
            case Check():
                self._outbox.send(self._check(request))
            case WeighMemory():
                self._engine.settle()
                with clean_modes():
                    self._outbox.send(memory_by_node(self._engine.live, self._engine.memory))
            case Meet():
                meeting.port = request.port
            case KeepCheckpoint():
                self._outbox.send(self._keep_checkpoint(request))
            case BringModule():
                wall.free_this_thread()  # its user said that this code is to run; the engine serves nothing else
                self._outbox.send(bring(request))
            case Stop() | Answer():
                pass  # the inbox keeps them
            case _:
                assert_never(request)

    def _with_program(self, request: Infer) -> Infer:
        """The request with the program it is about, whatever is loaded when its turn comes."""
        loaded = self._engine.loaded
        if request.program is not None or loaded is None:
            return request
        return msgspec.structs.replace(request, program=loaded.program)

    def _answer_anyway(self, request: Request, reason: str) -> None:
        """Nobody waits for ever: a request that failed by our own fault is answered all the same."""
        match request:
            case Load():
                self._engine.forget(request.revision)
                told = LoadedEvent(document=request.document, revision=request.revision, stale=True, live=False)
                self._outbox.send(told)
            case Do():
                self._outbox.send(self._engine.give_up(request, reason))
            case Fetch():
                self._outbox.send(Fetched(request=request.request, node=request.node, error=reason))
            case Collect():
                self._outbox.send(Report(revision=0, entries=()))
            case Infer():
                self._outbox.send(Inferred(document=request.document, revision=request.revision, ports=()))
            case Estimate():
                self._outbox.send(Estimated())
            case TryWire():
                self._outbox.send(WireTried(request=request.request, target=request.target))
            case LookAtData():
                self._outbox.send(DataLooked(request=request.request, error=reason))
            case Describe():
                self._outbox.send(Described(request=request.request, operator=request.operator, error=reason))
            case WhatIf():
                self._outbox.send(WhatIfAnswered(request=request.request, change=request.change, error=reason))
            case Check():
                self._outbox.send(Checked(request=request.request, nodes=request.nodes, error=reason))
            case WeighMemory():
                self._outbox.send(MemoryByNode(revision=0))
            case Meet():
                meeting.port = request.port
            case KeepCheckpoint():
                self._outbox.send(CheckpointKept(request=request.request, error=reason))
            case BringModule():
                self._outbox.send(NotBrought(fault="inexpressible", message=reason))
            case _:
                pass

    def _load(self, request: Load) -> None:
        engine = self._engine
        if engine.runner.sampling.updates.is_overtaken(request):
            return  # what came behind it was taken before it, in the middle of a loop
        engine.stored.add(request.tensors)
        stale, live = engine.load(Loaded(request.document, request.revision, request.program))
        if engine.live is None or stale:
            told = LoadedEvent(document=request.document, revision=request.revision, stale=stale, live=live)
            self._outbox.send(told)
            return
        self._outbox.send(loaded_event(request, engine.live, engine.runner.sampling.curves.counts))
        with clean_modes():
            for numbers in told_numbers(engine.live, engine.runner.rows.max_values):
                self._outbox.send(numbers)

    def _world(self) -> World | None:
        """What a silent run of the loaded program needs; None when there is none."""
        engine = self._engine
        if engine.loaded is None:
            return None
        seed = seed_for(engine.live, engine.loaded)
        return World(engine.loaded, seed, self._defaults, engine.stored.load_file, self._inbox.stopped)

    def _keep_checkpoint(self, request: KeepCheckpoint) -> CheckpointKept:
        engine = self._engine
        try:
            if engine.stale:
                raise VerbRefused("The program was changed since it ran; run it first.")
            with clean_modes():
                counts = engine.runner.sampling.curves.counts
                data, turns = checkpoint_bytes(engine.live, request.most_bytes, counts)
        except VerbRefused as reason:
            return CheckpointKept(request=request.request, error=str(reason))
        return CheckpointKept(request=request.request, data=data, turns=turns, counts=dict(counts))

    def _what_if(self, request: WhatIf) -> WhatIfAnswered:
        self._engine.settle()
        world = self._world()
        if world is None or world.loaded.program.codes:
            why = NOTHING_LOADED if world is None else DRAWN_ONLY
            return WhatIfAnswered(request=request.request, change=request.change, error=why)
        until = stop_place(self._engine.live, self._engine.stale, world.loaded)
        return answer(world, request, until)

    def _check(self, request: Check) -> Checked:
        self._engine.settle()
        world = self._world()
        if world is None or world.loaded.program.codes:
            why = NOTHING_LOADED if world is None else DRAWN_ONLY
            return Checked(request=request.request, nodes=request.nodes, error=why)
        return check(world, request)

    def _collect(self, request: Collect) -> Report:
        self._engine.settle()
        live = self._engine.live
        if live is None:
            return Report(revision=0, entries=())
        with clean_modes():
            return Reporter(live, request.max_values, request.trace).report()
