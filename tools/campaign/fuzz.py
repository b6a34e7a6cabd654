"""Makes inputs, has them read under the watch, and keeps those that were answered wrongly."""

import gc
import tempfile
import time
import traceback
from pathlib import Path

from tools.campaign.fuzzers import FUZZERS, Fuzzer, clear
from tools.campaign.tally import Failure, Tally, generator_of
from tools.campaign.watch import Watch, verdict

WARM_CASES = 40
"""Read before the watch looks on, so that what is imported late is there."""


def fuzz(name: str, watch: Watch, *, seed: int, cases: range, until: float | None = None) -> Tally:
    """Read the inputs of these numbers.

    Args:
        name: of the fuzzer.
        watch: looks on.
        seed: with the number it makes an input.
        cases: the numbers.
        until: no case begins after this moment of the monotonic clock.
    """
    fuzzer, tally = FUZZERS[name], Tally(name)
    with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
        folder = Path(place)
        for case in cases:
            if until is not None and time.monotonic() > until:
                break
            data = fuzzer.make(generator_of(name, seed, case))
            reason, details = read(fuzzer, data, folder, watch)
            tally.count(case, watch.seconds)
            if reason:
                tally.failures.append(Failure(name, seed, case, reason, data, details))
    return tally


def read(fuzzer: Fuzzer, data: bytes, folder: Path, watch: Watch) -> tuple[str, str]:
    """Have one input read in an empty folder.

    Returns:
        What is wrong with the answer ("" when nothing is), and its traceback.
    """
    error: BaseException | None = None
    look = fuzzer.put(data, folder)
    try:
        with watch.armed():
            look()
    except KeyboardInterrupt:
        raise
    except BaseException as caught:  # noqa: BLE001 - whatever comes is what is looked for
        error = caught
    details = "".join(traceback.format_exception(error, limit=-6)) if verdict(error) else ""
    clear(folder)
    return verdict(error) or "; ".join(dict.fromkeys(watch.seen)), details


def warm_up(name: str, watch: Watch) -> None:
    """Read sound and changed inputs once, so that what loads late is not taken for their doing.

    What another process loads is gone with it.
    """
    if not FUZZERS[name].is_forked:
        fuzz(name, watch, seed=-1, cases=range(WARM_CASES))
        gc.collect()
