"""What is known of the tensors of a program as it stands, before a training is put into it."""

from gradstudio.graph.model import ItemId
from gradstudio.graph.recipes.training_target import KnownOf, KnownTensor
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.state.session import Session


def known_of(session: Session) -> KnownOf:
    """Shape and dtype of a value of the program as it stands: from a run of it, else as they are expected."""
    results, shapes = session.results, session.run.shapes
    has_run = not (results.tables.is_stale or shapes.pending)
    has_run = has_run and results.tables.names.texts == session.run.program.texts
    is_told = shapes.are_told

    def known(value: tuple[ItemId, int]) -> KnownTensor | None:
        node, output = value
        records = (results.outputs(node) or ()) if has_run else ()
        record = records[output] if output < len(records) else None
        if isinstance(record, TensorRecord):
            return KnownTensor(record.summary.whole_shape, record.summary.dtype)
        expected = results.inference(node, output) if is_told else None
        shape = expected.shape if expected is not None else None
        if expected is None or shape is None or not all(isinstance(size, int) for size in shape):
            return None
        return KnownTensor(tuple(shape), expected.dtype)

    return known
