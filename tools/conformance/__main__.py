"""Prints the table of conformance: ``python3 dev.py conformance [--part N/5] [--dtype ...] [--op NAME] ...``."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from tools.conformance.exceptions import read
from tools.conformance.measure import Measure
from tools.conformance.tally import exceptions, table

DTYPES = ("float32", "int64", "bool")
SECTIONS = ("ops", "modules", "errors", "infer")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for, print it, and say by the exit code whether every exception is explained."""
    asked = _parser().parse_args(arguments)
    began = time.monotonic()
    part, parts = (int(number) for number in asked.part.split("/")) if asked.part else (1, 1)
    dtypes = asked.dtype.split(",") if asked.dtype else list(DTYPES)
    sections = [name for name in SECTIONS if getattr(asked, name)] or list(SECTIONS)
    say: Callable[[str], None] = (
        (lambda text: None) if asked.quiet else lambda text: print(text, file=sys.stderr, flush=True)
    )
    with Measure(part - 1, parts, asked.op or "", asked.seed, trace=not asked.plain, say=say) as measure:
        tallies = measure.all(sections, dtypes, asked.variant.split(","))
    complete = not (asked.dtype or asked.op) and asked.seed == 0 and len(asked.variant.split(",")) == 3
    told, wrong = exceptions(tallies, read(), complete=complete)
    print(table(tallies))
    if told:
        print("\nExceptions, each with its reason:\n" + "\n".join(told))
    if wrong:
        print("\n" + "\n".join(wrong))
    print(f"\n{sum(tally.samples for tally in tallies)} samples in {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py conformance", description=__doc__)
    parser.add_argument("--part", help="one of several parts, by number: 2/5 is the second fifth of the entries")
    parser.add_argument("--dtype", help=f"dtypes of the samples, with commas; {','.join(DTYPES)} when not given")
    parser.add_argument("--op", help="one entry alone, as the database calls it")
    parser.add_argument("--variant", default="function,method,inplace", help="which variants, with commas")
    parser.add_argument("--seed", type=int, default=0, help="of the samples' numbers")
    parser.add_argument("--ops", action="store_true", help="operators: outputs and gradients")
    parser.add_argument("--modules", action="store_true", help="modules: outputs and gradients, train and eval")
    parser.add_argument("--errors", action="store_true", help="wrong calls: they fail at the node with torch's words")
    parser.add_argument("--infer", action="store_true", help="inference before running: shapes and dtypes")
    parser.add_argument("--plain", action="store_true", help="without a trace: the whole text as one")
    parser.add_argument("--quiet", action="store_true", help="no line for each finished entry")
    return parser


if __name__ == "__main__":
    sys.exit(main())
