"""How a program of a person's own ends itself: the engine goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gradstudio.engine.errors import ProgramEnded, Stopped
from gradstudio.protocol.messages.progress import ProgramExit

ENDED = "The program ended itself at “{line}”: what follows was not run."
LARGEST_CODE: Final = 0xFF
"""So much of a code a system keeps."""


def end_words(line: str) -> str:
    """That a program has ended itself in a line; "" where it has not."""
    return ENDED.format(line=line) if line else ""


def has_ended_well(error: BaseException) -> bool:
    """Whether what was raised is the end of a program that went well."""
    return isinstance(error, ProgramEnded) and error.is_fine


def exit_of(code: object) -> ProgramExit:
    """What the process of a program ends with that raised `SystemExit(code)`, as Python has it."""
    if code is None:
        return ProgramExit(code=0)
    if isinstance(code, int):
        return ProgramExit(code=code & LARGEST_CODE)
    return ProgramExit(code=1, words=str(code))


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
        end = exit_of(error.code)
        raise ProgramEnded(end.words or str(end.code), end).with_traceback(error.__traceback__) from None
    except Exception:
        raise
    except BaseException as error:  # KeyboardInterrupt, GeneratorExit: the engine is not the program
        raise ProgramEnded(type(error).__name__).with_traceback(error.__traceback__) from error
