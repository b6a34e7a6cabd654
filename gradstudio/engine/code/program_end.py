"""How a program of a person's own ends itself: the engine goes on."""

from collections.abc import Iterator
from contextlib import contextmanager

from gradstudio.engine.errors import ProgramEnded, Stopped

ENDED = "The program ended itself at “{line}”: what follows was not run."


def end_words(line: str) -> str:
    """That a program has ended itself in a line; "" where it has not."""
    return ENDED.format(line=line) if line else ""


def has_ended_well(error: BaseException) -> bool:
    """Whether what was raised is the end of a program that went well."""
    return isinstance(error, ProgramEnded) and error.is_fine


@contextmanager
def programs_end() -> Iterator[None]:
    """What only ends a program becomes an error as any other.

    Raises:
        ProgramEnded: it called `exit()`, or raised something else that no `except Exception` takes.
    """
    try:
        yield
    except Stopped:
        raise
    except SystemExit as error:
        code = error.code
        words = f"SystemExit: {code}" if code is not None else "SystemExit"
        raise ProgramEnded(words, code in (None, 0)).with_traceback(error.__traceback__) from None
    except Exception:
        raise
    except BaseException as error:  # KeyboardInterrupt, GeneratorExit: the engine is not the program
        raise ProgramEnded(type(error).__name__, False).with_traceback(error.__traceback__) from error
