"""`gradstudio export FILE`: a document as Python, or its graph for other tools. No Qt, no torch here."""

import argparse
import sys
from pathlib import Path

from gradstudio.errors import GradStudioError
from gradstudio.graph.model import Graph
from gradstudio.graph.structure.graph_export import FORMATS
from gradstudio.program.forms.form_table import FORMS

FINE, FAILED, UNREADABLE = 0, 1, 4


def add_export(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("file", metavar="FILE")
    names = [*(form.name for form in FORMS), *(one.name for one in FORMATS)]
    parser.add_argument("--as", dest="form", choices=names, default=names[0])
    parser.add_argument("-o", dest="output", metavar="OUT", help="default: standard output")
    words = "print all values at the end (default: unless the program was read from a Python file)"
    parser.add_argument("--report", action=argparse.BooleanOptionalAction, help=words)


def export(options: argparse.Namespace) -> int:
    """Write the program in its form, and the data that it loads beside it; the exit code."""
    from gradstudio.document.errors import refusal_text
    from gradstudio.document.opened_graph import Unreadable, open_graph
    from gradstudio.document.python.python_export import export_failure

    try:
        return _write(open_graph(options.file), options)
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except (OSError, GradStudioError) as error:
        missing = f"{options.file} has no form as {options.form}"
        print(export_failure(error, options.output, missing), file=sys.stderr)
        return FAILED


def _write(graph: Graph, options: argparse.Namespace) -> int:
    from gradstudio.document.python.python_export import export_bytes, words_beside, write_export

    named = options.output if options.output not in (None, "-") else options.file
    stem = Path(named).stem if named != "-" else "program"
    if named is options.output:
        write_export(graph, Path(options.output), options.form, options.report)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(export_bytes(graph, options.form, stem, options.report))
        sys.stdout.buffer.flush()
    if words := words_beside(graph, options.form, stem):
        print(f"{options.file}: {words}", file=sys.stderr)
    return FINE
