"""How many turns a loop will have, as far as what it goes over tells without being asked for an element."""

import operator

from gradstudio.engine.script.cursor import Frame


def turns_of(frame: Frame) -> int | None:
    """How many turns the loop has, as far as its elements tell; None: only the end will."""
    iterator = frame.iterator
    done = frame.turn + 1 + frame.has_ahead
    if hasattr(type(iterator), "__len__"):
        return operator.length_hint(iterator) or None  # a loader's: all of them, whatever it has given
    hints = [_left_in(one) for one in _sources(iterator)]
    return None if None in hints or not hints else done + min(hint for hint in hints if hint is not None)


def _left_in(iterator: object) -> int | None:
    if hasattr(type(iterator), "__len__"):
        given = getattr(iterator, "_num_yielded", None)  # a loader's length is of all of them
        total = operator.length_hint(iterator, -1)
        return total - given if isinstance(given, int) and total >= given else None
    hint = operator.length_hint(iterator, -1)
    return hint if hint >= 0 else None


def _sources(iterator: object) -> tuple[object, ...]:
    """What the elements come from: of `enumerate` and `zip` the iterators within."""
    if isinstance(iterator, enumerate):
        return (iterator.__reduce__()[1][0],)
    if isinstance(iterator, zip):
        return tuple(iterator.__reduce__()[1])
    return (iterator,)
