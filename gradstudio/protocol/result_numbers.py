"""The one number that a result is, such as a loss or an accuracy."""

from gradstudio.protocol.messages.records import PlainRecord, Record, TensorRecord


def number_of(record: Record | None) -> float | None:
    """The number of a tensor without dimensions or of Python's own; None of everything else."""
    value: object = None
    if isinstance(record, TensorRecord) and not record.summary.shape:
        value = record.summary.value
    elif isinstance(record, PlainRecord):
        value = record.value
    return value if isinstance(value, float) else None
