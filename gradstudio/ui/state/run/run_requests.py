"""What is sent to the engine: the program, its stored tensors, verbs and questions. It decides nothing."""

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from gradstudio.document.file import dumps
from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.graph.edits import Edits, ReplaceBlock, ReplaceNode
from gradstudio.graph.model import ItemId
from gradstudio.graph.slices import AT_ONCE, Slices, stop_if, work_through
from gradstudio.program.compile import program_slices
from gradstudio.program.model import BlockStatement, Program, Statement
from gradstudio.protocol.messages import requests
from gradstudio.protocol.messages.debugging import Change, Check, WeighMemory, WhatIf
from gradstudio.protocol.messages.inference import Infer, Inferred, LookAtData, TryWire
from gradstudio.protocol.messages.progress import LARGEST_KEPT, KeepCheckpoint
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.results.run_names import NOTHING_RAN, RunNames
from gradstudio.ui.state.run.engine_line import BASE, EngineLine

if TYPE_CHECKING:
    from gradstudio.document.gsg.line_memo import LineMemo
    from gradstudio.protocol.messages.hosting import Document

WORK = "program"
MOST_TENSORS = 32_000_000
"""Bytes of stored tensors that a host keeps with a document for whoever takes it up."""
MANY_NODES = 200
"""From this many on, only nodes in view are summarised at once."""
REPEATS: Final = ("repeat", "go_to_turn")
"""Verbs that run a program once more, for its values alone: a slider that moves begins no run of its own."""


class RunRequests:
    """Keeps what the engine was told: which revision, which tensors.

    Attributes:
        document: the name under which the engine knows it; another one for each graph put in place.
        visible: nodes in view, summarised first.
        run_small: inference may compute small values.
        about_turns: what is to be told of turns, by field of `Do`.
        names: how the program that was sent last calls its nodes.
        owes_shapes: it was sent while a run was under way, and its shapes were not asked for.
    """

    def __init__(
        self,
        store: GraphStore,
        engine: EngineLine,
        compiled: Callable[[Program], None],
        show: Callable[[Program], None],
        idle: IdleWork,
    ) -> None:
        """Nothing was told yet; `compiled` hears of each program that is made, `show` when the engine has it."""
        self._store = store
        self._engine = engine
        self._compiled = compiled
        self._show = show
        self._idle = idle
        self._compiling: Slices[Program] | None = None
        self._is_shown = True
        self.run_small = True
        self.about_turns: Callable[[], dict[str, object]] = dict
        self._inferring = -1
        self.document = uuid.uuid4().hex
        self.visible: tuple[ItemId, ...] = ()
        self._given_tensors: set[str] = set()
        self._loaded_revision = -1
        self._is_same_but_cards = True
        self.owes_shapes = False
        self.names = NOTHING_RAN
        self._program: Program | None = None
        self._given_up: Program | None = None
        self._numbers = 0
        self._lines: LineMemo | None = None

    @property
    def program(self) -> Program:
        """The graph as it stands, compiled."""
        program = self._compiled_now()
        self.show()
        return program

    def _compiled_now(self) -> Program:
        """The program that stands; what was begun of it is ended."""
        if self._program is None:
            self._take(work_through(self._compiling or program_slices(self._store.graph)))
        assert self._program is not None
        return self._program

    def show(self) -> None:
        """Whoever shows the program is given the one that stands, once."""
        if self._program is not None and not self._is_shown:
            self._is_shown = True
            self._show(self._program)

    def show_to(self, show: Callable[[Program], None]) -> None:
        """Give the program that is shown to somebody who was not there when it came; nothing where there is none."""
        if self._program is not None and self._is_shown:
            show(self._program)

    def show_if_few(self) -> None:
        """Compile and show a program that takes no time: it belongs into the first picture of its document."""
        if len(self._store.graph.nodes) <= AT_ONCE:
            self._compiled_now()
            self.show()

    def compile_idly(self, then: Callable[[], Slices[None]]) -> None:
        """Compile the program while nobody does anything, and then do that; an edit gives it up."""
        self._idle.begin(WORK, self._compile(then))

    def _compile(self, then: Callable[[], Slices[None]]) -> Slices[None]:
        while self._program is None:
            self._compiling = self._compiling or program_slices(self._store.graph)
            try:
                next(self._compiling)
            except StopIteration as end:
                self._take(end.value)
            yield from self.stop_if_many()
        yield from then()

    def stop_if_many(self) -> Slices[None]:
        """A stop where the program is long."""
        yield from stop_if(self._store.graph.nodes)

    def _take(self, program: Program) -> None:
        self._program, self._compiling, self._is_shown = program, None, False
        self._compiled(program)

    def _forget(self) -> None:
        self._idle.cancel(WORK)
        self._program, self._compiling, self._inferring = None, None, -1

    @property
    def compiles(self) -> bool:
        """Whether the program is being compiled, to be sent."""
        return self._idle.has(WORK)

    @property
    def up_to_date(self) -> bool:
        """Whether the engine has the program as it stands."""
        return self._loaded_revision == self._store.graph.revision and self._program is not None

    def places_changed(self) -> None:
        """Cards were moved: the program is the same."""
        if self._loaded_revision >= 0 and self._program is not None:
            self._loaded_revision = self._store.graph.revision

    def program_changed(self, edits: Edits) -> None:
        """The program has to be compiled anew."""
        self._is_same_but_cards &= all(isinstance(edit, ReplaceNode | ReplaceBlock) for edit in edits)
        self._forget()

    def document_changed(self) -> None:
        """Another graph is in place."""
        self._forget()
        self.document, self._loaded_revision = uuid.uuid4().hex, -1

    def engine_changed(self) -> None:
        """Whoever answers now has not heard what was sent before."""
        self._loaded_revision = -1
        self._given_tensors.clear()

    def load(self) -> None:
        """Send the program if the engine has not this revision yet; `show` is called behind it."""
        if self.up_to_date:
            return
        program, revision = self._compiled_now(), self._store.graph.revision
        tensors = self._new_tensors(program)
        self.keep()
        self._engine.send(requests.Load(document=self.document, revision=revision, program=program, tensors=tensors))
        self._loaded_revision, self.names = revision, RunNames(self._store.graph, program)
        self._is_same_but_cards = True

    def load_in_run(self) -> bool:
        """Send a program whose cards alone differ to an engine that is in a loop: numbers may hold from now on."""
        self.owes_shapes = self._is_same_but_cards and not self._compiled_now().codes
        if self.owes_shapes:
            self.load()
        return self.owes_shapes

    def keep(self) -> None:
        """Have an engine that may go on alone keep what is drawn."""
        if self._engine.client.title_there and self._engine.place:
            from gradstudio.protocol.messages.hosting import Document  # most engines are here

            revision = self._store.graph.revision + self._engine.number * BASE
            self._engine.client.keep(Document(name=self.document, revision=revision, text=self._text()))

    def adopt(self, document: "Document") -> None:
        """The engine has this very program, from another window, under that name and revision."""
        self.document, self._store.graph.revision = document.name, document.revision % BASE
        self._engine.adopt(document.revision)
        self.names = RunNames(self._store.graph, self._compiled_now())

    def _text(self) -> bytes:
        graph = self._store.graph
        if sum(len(tensor.data) for tensor in graph.tensors.values()) > MOST_TENSORS:
            return b""
        from gradstudio.document.gsg.line_memo import LineMemo

        self._lines = self._lines or LineMemo()
        return dumps(graph, memo=self._lines, with_data=True).encode()

    def displaced(self) -> None:
        """The engine has another document's program now; stored tensors it keeps."""
        self._loaded_revision = -1

    def give_up_shapes(self) -> None:
        """Shapes of this program are not asked for again until it changes."""
        self._given_up, self._inferring = self._program, -1

    def name_of(self, node: ItemId) -> str:
        """How the script calls a node, those inside definitions among them; "" where it has no name."""
        return addresses(self._store.graph).get(node, "")

    def load_and_infer(self, *, load: bool = True) -> bool:
        """Send the program and ask for its shapes; `show` is called behind it, while the engine looks for them.

        Returns:
            Whether they were asked for.

        Args:
            load: False only asks for the shapes: what is loaded, and live, stays another document's.
        """
        if load:
            self.load()
        asks = self._compiled_now() is not self._given_up
        if asks:
            self.infer()
        return asks

    def stands(self, inferred: Inferred) -> bool:
        """Whether it is of the program as it stands: cards may have been moved meanwhile."""
        return inferred.revision == self._inferring and inferred.document == self.document

    @property
    def has_asked(self) -> bool:
        """Whether shapes of the program as it stands were asked for, whether they have come or not."""
        return self._inferring >= 0

    def infer(self) -> None:
        """Ask for shapes of the program as it stands; one that the engine has is not sent again."""
        program, revision = self._compiled_now(), self._store.graph.revision
        tensors, self._inferring, self.owes_shapes = self._new_tensors(program), revision, False
        sent = None if self.up_to_date else program
        self._engine.send(
            Infer(
                document=self.document,
                revision=revision,
                program=sent,
                tensors=tensors,
                run_small=self.run_small,
            )
        )

    def do(self, request: requests.Do) -> None:
        """Send a verb; long loops are sampled, and in large programs only what is in view is summarised at once."""
        many = len(self._store.graph.nodes) > MANY_NODES and bool(self.visible)
        summaries = "visible" if many else "all"
        is_here = not self._engine.place or self._engine.client.exchange.ranks is not None  # ranks are processes here
        is_kept = request.verb not in REPEATS and is_here
        about_turns = {"samples_turns": True, "keeps_bytes": LARGEST_KEPT * is_kept, **self.about_turns()}
        self._engine.send(
            msgspec.structs.replace(request, visible=self.visible, summaries=summaries, answers=True, **about_turns)
        )
        self.show()

    def what_if(self, change: Change) -> int:
        """Ask what another value would have done; the request's number."""
        return self._ask(lambda number: WhatIf(request=number, change=change))

    def check(self, nodes: tuple[ItemId, ...]) -> int:
        """Ask for a gradcheck; the request's number."""
        return self._ask(lambda number: Check(request=number, nodes=nodes))

    def try_wire(self, program: Program, target: ItemId) -> int:
        """Ask whether a statement would work in a program that has a wire more; the request's number."""
        tensors = self._new_tensors(program)
        return self._ask(lambda number: TryWire(request=number, program=program, target=target, tensors=tensors))

    def look_at_data(self, nodes: tuple[ItemId, ...]) -> int:
        """Ask what data statements make; the request's number."""
        return self._ask(lambda number: LookAtData(request=number, nodes=nodes))

    def keep_checkpoint(self, most_bytes: int = 0) -> int:
        """Ask for the run as a file, of so many bytes at most (0: any); the request's number."""
        return self._ask(lambda number: KeepCheckpoint(request=number, most_bytes=most_bytes))

    def weigh_memory(self) -> None:
        """Ask what each node holds."""
        self._engine.send(WeighMemory())

    def fetch(
        self,
        node: ItemId,
        output: int,
        grad: bool,
        name: str,
        index: tuple[int, ...],
        rows: tuple[int, int],
        columns: tuple[int, int],
        whole: bool = False,
    ) -> int:
        """Ask for a table of a live tensor, or of all of a distributed one; the request's number."""
        return self._ask(
            lambda number: requests.Fetch(
                request=number,
                node=node,
                output=output,
                grad=grad,
                name=name,
                index=index,
                rows=rows,
                columns=columns,
                whole=whole,
            )
        )

    @property
    def asked(self) -> int:
        """The number of the newest question."""
        return self._numbers

    def _ask(self, make: Callable[[int], requests.Request]) -> int:
        self._numbers += 1
        self._engine.send(make(self._numbers))
        return self._numbers

    def _new_tensors(self, program: Program) -> dict[str, bytes]:
        wanted = [digest for digest in program.tensors if digest not in self._given_tensors]
        self._given_tensors.update(wanted)
        return {digest: self._store.graph.tensors[digest].data for digest in wanted}


def repeated_nodes(statements: tuple[Statement | BlockStatement, ...]) -> frozenset[ItemId]:
    """Nodes and blocks of the repeated part (semantics §5)."""
    found: set[ItemId] = set()
    for statement in statements:
        if isinstance(statement, BlockStatement):
            found |= repeated_nodes(statement.body)
            found |= {statement.block} if statement.repeated else set()
        elif statement.repeated:
            found.add(statement.node)
    return frozenset(found)
