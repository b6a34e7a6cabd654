"""``python3 dev.py campaign [NAME ...] [OPTIONS]``: hostile inputs, kills and long use.

Prints the cases, the failures and the slowest of each part; what failed is kept in out/campaign. Without names every
part has its share of the minutes.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.campaign import kills, live_frames, soak, window_kills, window_soak
from tools.campaign.fuzz import fuzz, warm_up
from tools.campaign.fuzzers import FUZZERS
from tools.campaign.tally import Failure, Tally
from tools.campaign.watch import Watch

ENDLESS = 10**9
KEPT = Path(__file__).resolve().parents[2] / "out" / "campaign"


def _faults(*, seed: int, cases: range, until: float) -> Tally:
    """Loaded when it is asked for: its limits are not there on every system."""
    from tools.campaign.faults import try_faults

    return try_faults(seed=seed, cases=cases, until=until)


DRIVERS = {
    "journal-kills": kills.kill_journals,
    "engine-kills": kills.kill_engines,
    "window-kills": window_kills.kill_windows,
    window_kills.OF_ENGINES: window_kills.kill_engines,
    "live-engines": live_frames.to_engines,
    "live-windows": live_frames.to_windows,
    "faults": _faults,
    "edits": soak.edit,
    "runs": soak.run,
    "window-soak": window_soak.use,
}
NAMES = (*FUZZERS, *DRIVERS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and print it; 1 when something failed."""
    asked = _parser().parse_args(arguments)
    names = asked.names or list(NAMES)
    share_s = asked.minutes * 60 / len(names)
    cases = range(asked.cases) if asked.case is None else range(asked.case, asked.case + 1)
    watch = Watch()
    failures: list[Failure] = []
    for name in names:
        tally = _part(name, watch, asked.seed, cases, share_s)
        print(tally.line(), flush=True)
        failures += tally.failures
    for failure in failures:
        _tell(failure)
    return 1 if failures else 0


def _part(name: str, watch: Watch, seed: int, cases: range, share_s: float) -> Tally:
    if name in DRIVERS:
        return DRIVERS[name](seed=seed, cases=cases, until=time.monotonic() + share_s)
    warm_up(name, watch)
    return fuzz(name, watch, seed=seed, cases=cases, until=time.monotonic() + share_s)


def _tell(failure: Failure) -> None:
    print(f"\n{failure.name} {failure.case}: {failure.reason[:500]}\n    {failure.command()}")
    print(failure.details, end="")
    if failure.data:
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = KEPT / f"{failure.name}-{failure.seed}-{failure.case}"
        kept.write_bytes(failure.data)
        print(f"    kept as {kept}; its place is tests/corpus/campaign/{failure.name}/")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py campaign", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--minutes", type=float, default=5.0, help="for all parts together; 5 when not given")
    parser.add_argument("--cases", type=int, default=ENDLESS, help="of each part at most")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases")
    parser.add_argument("--case", type=int, help="this one alone")
    return parser


if __name__ == "__main__":
    sys.exit(main())
