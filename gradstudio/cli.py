"""The command line: `main() -> int`. What a verb needs is imported by it alone, its parser too.

Window, engine and torch are imported only by the verbs that need them; the window is not to wait for what others need.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradstudio import __version__
from gradstudio.errors import GradStudioError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from gradstudio.document.opened_graph import Unreadable

FINE = 0
FAILED = 1
USAGE = 2
NO_DISPLAY = 3
UNREADABLE = 4
INTERRUPTED = 130
_MODULE = r"(?P<path>.*\.py):(?P<name>[^\W\d]\w*)"
VERBS = ("run", "export", "import", "check", "render", "ops", "info", "integrate", "hosts", "train", "sweep")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one verb; without a verb, open the window.

    Returns:
        0 fine, 1 the program failed, 2 wrong usage, 3 no display, 4 unreadable file, 130 interrupted;
        of `run` what the program ended itself with (`sys.exit`), if it did.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not words or words[0] not in (*VERBS, "-h", "--help", "--version"):
            return _window(words)
        words, of_script = _without_script_options(words)
        options = _parser().parse_args(words)
        options.of_script = of_script
        handler: Callable[[argparse.Namespace], int] = options.handler
        return handler(options)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def _without_script_options(words: list[str]) -> tuple[list[str], list[str]]:
    """Of `train`, what stands behind ``--`` is the script's: a parser would drop the mark behind a file's name."""
    if words[0] != "train" or "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _parser() -> argparse.ArgumentParser:
    import argparse

    from gradstudio.document.data.command_options import add_data_options
    from gradstudio.export_command import add_export, export
    from gradstudio.hosts_command import add_hosts, hosts_command
    from gradstudio.train_command import add_sweep, add_train, train

    parser = argparse.ArgumentParser(
        prog="gradstudio",
        description="Draw a PyTorch computation, run it, and watch values and gradients flow. "
        "Without a verb: open the window, on FILE if one is given.",
    )
    parser.add_argument("--version", action="version", version=f"GradStudio {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_run(verbs)
    add_export(_add(verbs, "export", export, "write a document as Python, or its graph for other tools"))
    read = _add(verbs, "import", _import, "turn Python text into a document; only --run-code executes anything")
    read.add_argument(
        "file",
        metavar="FILE.py[:Name]",
        help="a Python file, - for standard input, a module in a file, or data: "
        ".csv, .csv.gz, .tsv, .npy, .npz, .txt, .parquet",
    )
    read.add_argument("-o", dest="output", metavar="OUT.gsg", help="default: FILE.gsg, beside the text")
    _add_module_options(read)
    add_data_options(read)
    check = _add(verbs, "check", _check, "say shapes, types and problems without running")
    check.add_argument("files", metavar="FILE", nargs="+")
    check.add_argument("--json", action="store_true", help="one object per file, one line each")
    words = "say what hangs together, the longest path, and where each leaf's gradient must pass"
    check.add_argument("--graph", action="store_true", help=words)
    words = "say, too, what lies between two nodes, by the names that the report has for them"
    check.add_argument("--between", nargs=2, metavar=("FROM", "TO"), help=words)
    _add_render(verbs)
    ops = _add(verbs, "ops", _ops, "list the operators")
    ops.add_argument("query", nargs="*", help="search words")
    ops.add_argument("--json", action="store_true")
    info = _add(verbs, "info", _info, "versions, devices, paths")
    info.add_argument("--json", action="store_true")
    integrate = _add(verbs, "integrate", _integrate, "desktop entry and file type, for you alone")
    integrate.add_argument("--remove", action="store_true", help="take both away again")
    add_hosts(_add(verbs, "hosts", hosts_command, "other machines whose engines run programs, by ssh"))
    add_train(_add(verbs, "train", train, "train what a document draws, on one or many processes, by torchrun"))
    add_sweep(_add(verbs, "sweep", _sweep, "train once for each combination of literals, and compare"))
    return parser


def _add(verbs: Any, name: str, handler: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(handler=handler)
    return parser


def _add_run(verbs: Any) -> None:
    run = _add(verbs, "run", _run, "run documents and report every value and gradient")
    run.add_argument("files", metavar="FILE", nargs="+", help="a .gsg, .py or .ipynb file, or - for standard input")
    run.add_argument("--device", type=_device, help="cpu, auto, cuda:0, … (default: the document's)")
    run.add_argument("--host", metavar="NAME", help="run there: a machine that `gradstudio hosts` knows")
    run.add_argument("--config-dir", metavar="FOLDER", help="another folder of settings, whose hosts are meant")
    words = "with --host: yes, send stored tensors there, also more than 100 MB"
    run.add_argument("--send", action="store_true", help=words)
    words = "run in N processes that torch.distributed joins, and say what differs between them (2 to 64, here)"
    run.add_argument("--processes", type=_count, default=1, metavar="N", help=words)
    run.add_argument("--backward", action="store_true", help="append root.backward() if there is no backward statement")
    run.add_argument("--trust", action="store_true", help="yes, run the Python in FILE that is not drawn, too")
    words = "keep the training beside FILE, as the window does: curves, and checkpoints while it runs"
    run.add_argument("--keep", action="store_true", help=words)
    words = "train on from the last checkpoint of the newest run of FILE that was cut off"
    run.add_argument("--continue", dest="goes_on", action="store_true", help=words)
    run.add_argument("--trace", action="store_true", help="record every node, with gradients of non-leaves")
    words = "say, too, what a teacher would see: where NaN begins, what never learns, losses given the wrong numbers"
    run.add_argument("--problems", action="store_true", help=words)
    words = "end with 1 when numbers are spoilt: a NaN in a value or gradient, an overflow"
    run.add_argument("--strict", action="store_true", help=words)
    run.add_argument("--json", action="store_true", help="one object per file, one line each")
    run.add_argument("--max-values", type=_count, default=64, metavar="N", help="values in full up to N elements")


def _add_render(verbs: Any) -> None:
    """The options of `render`; whatever asks for something of a run runs the program first."""
    render = _add(verbs, "render", _render, "draw a document as a picture, a page that steps, or a film")
    render.add_argument("file", metavar="FILE")
    words = "OUT.png (which holds the document, too), .svg, .pdf, .tex (TikZ), .html (every step), .gif or .mp4"
    render.add_argument("-o", dest="output", required=True, metavar="OUT", help=words)
    words = "window: the cards of the canvas; paper: small boxes with formulas (usual for .tex, .html, .gif, .mp4)"
    render.add_argument("--style", choices=("window", "paper"), help=words)
    words = "usual: dark in the style window, light in the style paper"
    render.add_argument("--theme", choices=("light", "dark"), help=words)
    render.add_argument("--transparent", action="store_true", help="without a ground")
    words = "paper: so many points at most; what is wider goes from above downwards (usual: 505, a page; a column: 252)"
    render.add_argument("--width", type=_count, default=505, metavar="POINTS", help=words)
    render.add_argument("--only", default="", metavar="NAME,NAME", help="these nodes alone, by their names in reports")
    run = render.add_argument_group("of a run, for which the program is executed")
    run.add_argument("--run", action="store_true", help="show values and gradients")
    run.add_argument("--values", action="store_true", help="show values")
    run.add_argument("--shapes", action="store_true", help="show shapes")
    run.add_argument("--gradients", action="store_true", help="show gradients, also what went back along each wire")
    moment = run.add_mutually_exclusive_group()
    moment.add_argument("--step", type=_count, metavar="N", help="at the Nth step of the record, from 1")
    words = "at the last moment of a node, forward:NODE or backward:NODE"
    moment.add_argument("--moment", default="", metavar="PHASE:NODE", help=words)


def _add_module_options(parser: argparse.ArgumentParser) -> None:
    """The options of `import` that are for modules."""
    group = parser.add_argument_group("a module of your own (FILE.py:Name)")
    group.add_argument("--run-code", action="store_true", help="yes, execute the code of FILE.py on this computer")
    words = 'what it is called with: "torch.randn(1, 3, 32, 32)", or name=…; several in order'
    group.add_argument("--input", dest="inputs", metavar="EXPR", action="append", default=[], help=words)
    group.add_argument("--args", dest="arguments", metavar="ARGS", default="", help='to construct it: "64, depth=2"')
    group.add_argument("--eval", dest="evaluate", action="store_true", help="in eval mode, instead of as it is made")
    group.add_argument("--seed", type=_count, default=0, metavar="N", help="of the random numbers (default: 0)")


def _device(text: str) -> str:
    import argparse
    import re

    if not re.fullmatch(r"[a-z]+(:[0-9]{1,4})?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no device: use cpu, auto, cuda, cuda:0, mps or xpu")
    return text


def _count(text: str) -> int:
    import argparse

    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


# ------------------------------------------------------------------ verbs


def _window(words: list[str]) -> int:
    from gradstudio.ui.app.application import main as open_window

    return open_window(words)


def _run(options: argparse.Namespace) -> int:
    from gradstudio.headless import run_files
    from gradstudio.hosts_command import find_host
    from gradstudio.protocol.errors import BadHost

    try:
        options.host = find_host(options.host, options.config_dir)
    except BadHost as error:
        print(error, file=sys.stderr)
        return USAGE
    return _print(run_files(options), options.json)


def _sweep(options: argparse.Namespace) -> int:
    from gradstudio.sweep_command import sweep

    return sweep(options)


def _check(options: argparse.Namespace) -> int:
    from gradstudio.headless import check_files

    return _print(check_files(options), options.json)


def _print(results: Iterator[tuple[int, dict[str, Any], str]], as_json: bool) -> int:
    """Print each result as it comes; the highest code wins."""
    import json

    code = FINE
    for one, data, text in results:
        print(json.dumps(data) if as_json else text, flush=True)
        code = max(code, one)
    return code


def _unreadable(file: str, error: Unreadable) -> int:
    """Say what is wrong with a file, and where in it."""
    from gradstudio.document.errors import refusal_text

    print(refusal_text(file, error.others, error), file=sys.stderr)
    return UNREADABLE


def _import(options: argparse.Namespace) -> int:
    import re

    from gradstudio.document.data.sources import FILES, kind_of
    from gradstudio.document.errors import CannotSave
    from gradstudio.document.file import SUFFIX, save
    from gradstudio.document.opened_graph import Unreadable, open_file
    from gradstudio.document.python.module_import import module_hint
    from gradstudio.graph.text.code_records import CODE

    if (module := re.fullmatch(_MODULE, options.file)) and not Path(options.file).is_file():
        from gradstudio.import_command import import_module

        return import_module(options, Path(module["path"]), module["name"])
    if options.run_code and re.search(r":[^\W\d]\w*$", options.file):
        path = options.file.rpartition(":")[0]
        kind = "a directory" if Path(path).is_dir() else "no Python file"
        print(f"{path}: this is {kind}. Say which file and which module of it, as in net.py:Net.", file=sys.stderr)
        return USAGE
    if options.run_code or options.inputs:
        print(f"Say which module of it to import, as in {options.file}:Net.", file=sys.stderr)
        return USAGE
    if not options.output and options.file == "-":
        print("Say where to with -o OUT.gsg: standard input has no name.", file=sys.stderr)
        return USAGE
    if Path(options.file).is_dir():
        words = "this is a folder. One of pictures is imported in the window: File ▸ Import folder of pictures…"
        print(f"{options.file}: {words}", file=sys.stderr)
        return USAGE
    if kind_of(Path(options.file)) in FILES:
        from gradstudio.import_command import import_data

        return import_data(options, Path(options.file))
    target = Path(options.output or Path(options.file).with_suffix(SUFFIX))
    try:
        graph = open_file(options.file).graph
        save(graph, target)
    except Unreadable as error:
        return _unreadable(options.file, error)
    except CannotSave as error:
        print(error, file=sys.stderr)
        return FAILED
    print(f"{target}: {len(graph.nodes)} nodes, {len(graph.wires)} wires")
    codes = sum(node.operator == CODE for node in graph.nodes.values())
    if codes:
        verb = "holds" if codes == 1 else "hold"
        print(f"{codes} of them {verb} Python that is not drawn. {module_hint(Path(options.file))}".rstrip())
    return FINE


def _integrate(options: argparse.Namespace) -> int:
    from gradstudio.desktop_integration import NoIntegration, integrate, remove

    try:
        lines = remove() if options.remove else integrate()
    except NoIntegration as error:
        print(f"gradstudio: {error}", file=sys.stderr)
        return FAILED
    print(*lines, sep="\n")
    return FINE


def _render(options: argparse.Namespace) -> int:
    from gradstudio.document.opened_graph import Unreadable, open_graph
    from gradstudio.ui.pictures.picture_formats import format_of, suffix_words

    row = format_of(Path(options.output))
    if row is None:
        print(f"{options.output}: the picture must end in {suffix_words()}.", file=sys.stderr)
        return USAGE
    options.style = options.style or row.styles[0]
    options.theme = options.theme or ("dark" if options.style == "window" else "light")
    try:
        graph = open_graph(options.file)
    except Unreadable as error:
        return _unreadable(options.file, error)
    from gradstudio.headless import recorded_or_traced
    from gradstudio.layout.tidy import layout_missing

    graph.places = layout_missing(graph)

    asks = (options.run, options.values, options.shapes, options.gradients, options.step is not None, options.moment)
    try:
        events = recorded_or_traced(options.file, graph) if row.is_stepping or any(asks) else []
    except GradStudioError as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return FAILED
    from gradstudio.ui.app.render_command import write_picture

    return write_picture(graph, events, options)


def _ops(options: argparse.Namespace) -> int:
    from gradstudio.operators.catalogue.loader import load

    operators = load().search(" ".join(options.query), limit=1000) if options.query else tuple(load())
    if options.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(operators).decode() + "\n")
        return FINE
    from gradstudio.protocol.versions import catalogue_notice

    width = max((len(operator.key) for operator in operators), default=0)
    category = ""
    for operator in operators:
        if not options.query and operator.category != category:
            category = operator.category
            count = sum(other.category == category for other in operators)
            print(f"{'' if operator is operators[0] else chr(10)}{category} ({count})")
        print(f"{operator.key:<{width}}  {operator.summary}")
    if text := catalogue_notice():
        print(text, file=sys.stderr)
    return FINE


def _info(options: argparse.Namespace) -> int:
    import json
    import platform

    from gradstudio.paths import resources
    from gradstudio.protocol.versions import engine_info

    facts: dict[str, object] = {
        "gradstudio": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "resources": str(resources()),
        **engine_info(),
    }
    if options.json:
        print(json.dumps(facts))
        return FINE
    for name, value in facts.items():
        print(f"{name:12} {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return FINE
