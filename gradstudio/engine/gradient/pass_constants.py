"""What is told of a value in the same words in each pass: made once."""

from gradstudio.engine.gradient.tensor_watch import Key
from gradstudio.engine.gradient.wire_edges import Mark
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.backward_trace import EdgeValue
from gradstudio.protocol.messages.events import GradRow


class PassConstants:
    """Records by the key of their value."""

    def __init__(self) -> None:
        """None yet."""
        self._edges: dict[Key, tuple[EdgeValue]] = {}
        self._not_run: dict[Key, GradRow] = {}

    def edge_of(self, mark: Mark) -> tuple[EdgeValue, ...]:
        """The value that was made at an autograd node, as a record shows it."""
        key, _, index, turns = mark
        known = self._edges.get(key)
        if known is None or known[0].index != index or known[0].turns != turns:
            made = EdgeValue(node=key[0], index=index, output=key[1], path=key[2], turns=turns)
            known = self._edges[key] = (made,)
        return known

    def not_run(self, key: Key) -> GradRow:
        """The row of a value that no backward could have reached yet."""
        row = self._not_run.get(key)
        if row is None:
            node, output, path = key
            row = GradRow(node=node, output=output, path=path, state="not_run", reason=words.NOT_RUN)
            self._not_run[key] = row
        return row
