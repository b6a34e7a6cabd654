"""`gradstudio hosts add | list | check | remove`: machines whose engines run programs. No Qt, no torch here."""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gradstudio.errors import GradStudioError
from gradstudio.protocol.errors import BadHost

if TYPE_CHECKING:
    from gradstudio.protocol.hosts.host_book import Host, HostBook

FINE = 0
FAILED = 1
USAGE = 2
SETTINGS = "another folder of settings"
Json = dict[str, Any]


def add_hosts(parser: argparse.ArgumentParser) -> None:
    """The options of `hosts`."""
    parser.add_argument("--config-dir", metavar="FOLDER", help=SETTINGS)
    verbs = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    add = _add(verbs, "add", _add_host, "name a machine, a container or a job")
    add.add_argument("name", metavar="NAME")
    add.add_argument("destination", metavar="[USER@]HOST", nargs="?", default="", help="as ssh takes it")
    words = 'instead: a line that ends in a process with two pipes, "docker exec -i box"; {engine} stands for the rest'
    add.add_argument("--command", default="", metavar="LINE", help=words)
    add.add_argument("--python", default="python3", metavar="PATH", help="its Python (default: python3)")
    one_line = "one object a host, one line each"
    _add(verbs, "list", _list, "those there are").add_argument("--json", action="store_true", help=one_line)
    check = _add(verbs, "check", _check, "say what is there: Python, torch, devices, an engine or none")
    check.add_argument("name", metavar="NAME")
    check.add_argument("--send", action="store_true", help="yes, send the engine there if there is none (1.2 MB)")
    check.add_argument("--json", action="store_true", help="one object on one line")
    running = _add(verbs, "running", _running, "what was asked to go on there and still does; --end ends it")
    running.add_argument("name", metavar="NAME")
    running.add_argument("--end", metavar="ID", help="end the engine of that ID, or of its first letters")
    running.add_argument("--json", action="store_true", help="one object an engine, one line each")
    remove = _add(verbs, "remove", _remove, "forget one; nothing is done there")
    remove.add_argument("name", metavar="NAME")


def hosts_command(options: argparse.Namespace) -> int:
    """Carry one out; the exit code."""
    from gradstudio.protocol.hosts.host_book import HostBook  # every verb knows the options, one reads hosts

    book = HostBook(Path(options.config_dir) if options.config_dir else None)
    handler: Callable[[HostBook, argparse.Namespace], int] = options.does
    try:
        return handler(book, options)
    except BadHost as error:
        _say(str(error))
        return USAGE


def find_host(name: str | None, folder: str | None = None) -> "Host | None":
    """The host that a run names, of the settings in a folder; None where it names none.

    Raises:
        BadHost: there is none of that name.
    """
    from gradstudio.protocol.hosts.host_book import HostBook  # most runs are here

    if not name:
        return None
    return HostBook(Path(folder) if folder else None).find(name)


def _add(verbs: Any, name: str, does: Callable[..., int], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    # Behind the verb, too; left out there it must not undo what stands before the verb.
    parser.add_argument("--config-dir", metavar="FOLDER", default=argparse.SUPPRESS, help=SETTINGS)
    parser.set_defaults(does=does)
    return parser


def _add_host(book: "HostBook", options: argparse.Namespace) -> int:
    from gradstudio.protocol.hosts.host_book import Host

    host = Host(options.name, options.destination, options.command, options.python)
    book.add(host)
    print(f"{host.name}: {host.where}\nWhat is there? gradstudio hosts check {host.name}")
    return FINE


def _list(book: "HostBook", options: argparse.Namespace) -> int:
    hosts = book.hosts()
    for host in hosts:
        if options.json:
            print(msgspec.json.encode(host).decode())
            continue
        devices = ", ".join(f"{device.name} ({device.title})" for device in host.devices) or "not checked yet"
        print(f"{host.name:<12} {host.where} · {host.python} · {devices}")
    if not hosts and not options.json:
        _say("No host was added yet: gradstudio hosts add NAME [user@]host")
    return FINE


def _remove(book: "HostBook", options: argparse.Namespace) -> int:
    host = book.remove(options.name)
    print(f"{host.name} is forgotten. An engine that was sent there stays, in ~/.cache/gradstudio.")
    return FINE


def _check(book: "HostBook", options: argparse.Namespace) -> int:
    """Say what is there; 0 when programs can run there."""
    host = book.find(options.name)
    data: Json = {"host": host.name, "where": host.where, "ok": False, "problem": ""}
    try:
        _look(book, host, options, data)
    except BadHost:
        raise
    except GradStudioError as error:
        data["problem"] = str(error)
    data["ok"] = not data["problem"]
    if options.json:
        print(json.dumps(data))
    elif data["problem"]:
        print(f"  PROBLEM      {data['problem']}", flush=True)
    return FINE if data["ok"] else FAILED


def _running(book: "HostBook", options: argparse.Namespace) -> int:
    """List the engines that stay on a host, or end one."""
    from gradstudio.protocol.hosts import host_check

    host = book.find(options.name)
    try:
        engines = host_check.staying(host)
        if options.end:
            engines = tuple(one for one in engines if one.name.startswith(options.end))
            if len(engines) != 1:
                _say(f"{len(engines) or 'No'} engines on “{host.name}” begin with “{options.end}”.")
                return USAGE
            host_check.end_staying(host, engines[0].name)
            print(f"{engines[0].name[:8]} on “{host.name}” was ended.")
            return FINE
    except GradStudioError as error:
        _say(str(error))
        return FAILED
    for one in engines:
        since = datetime.fromtimestamp(one.since_s).strftime("%Y-%m-%d %H:%M")
        what = "computes" if one.is_busy else "rests"
        if one.has_ended:
            what = "has ended, its record is there"
        elif not one.is_joined:
            what += ", nobody is on the line"
        title = "".join(character if character.isprintable() else " " for character in one.title)
        text = f"{one.name[:8]}  {title} · since {since} · {what} · process {one.pid}"
        print(msgspec.json.encode(one).decode() if options.json else text)
    if not engines and not options.json:
        _say(f"Nothing stays on “{host.name}”.")
    return FINE


def _look(book: "HostBook", host: "Host", options: argparse.Namespace, data: Json) -> None:
    from gradstudio.protocol.hosts import host_check
    from gradstudio.protocol.hosts.host_command import refusal

    row = _Rows(quiet=options.json)
    row.title(f"{host.name} ({host.where})")
    facts = host_check.look(host)
    data |= {"python": facts.python, "executable": facts.executable, "machine": facts.machine, **facts.packages}
    data |= {"gradstudio": facts.gradstudio, "sent": facts.is_sent}
    row.put("Python", f"{facts.python}, {facts.executable}, {facts.machine}")
    row.put("torch", facts.packages.get("torch") or "not there")
    if facts.is_old:
        data["problem"] = refusal(host, f"python {facts.python}")
    elif facts.missing:
        data["problem"] = refusal(host, f"lacks {', '.join(facts.missing)}")
    if data["problem"]:
        return
    if not facts.is_sent and (options.send or (not facts.gradstudio and _may_send(host, options))):
        folder = host_check.send(host)
        data["sent"] = True
        row.put("GradStudio", f"{host_check.WAS_SENT} {folder}")
    elif facts.is_sent:
        row.put("GradStudio", host_check.IS_THERE)
    elif facts.gradstudio:
        row.put("GradStudio", f"{facts.gradstudio} is installed; --send puts this version's engine beside it")
    else:
        row.put("GradStudio", "not there")
        data["problem"] = refusal(host, "gradstudio")
        return
    _ask(book, host, row, data)


def _ask(book: "HostBook", host: "Host", row: "_Rows", data: Json) -> None:
    """Start the engine there, and keep which devices it has."""
    from gradstudio.protocol.hosts import host_check
    from gradstudio.protocol.versions import device_text

    answer = host_check.ask_engine(host)
    book.put(msgspec.structs.replace(host, devices=answer.devices))
    data |= msgspec.to_builtins(answer)
    row.put("devices", "; ".join(map(device_text, answer.devices)))
    row.put("walls", ", ".join(answer.walls))
    from gradstudio.operators.catalogue import loader

    made = loader.load().torch_version
    if answer.torch.partition("+")[0] != made:
        lacking = f"{len(answer.absent)} operators of the catalogue are not there" if answer.absent else "it lacks none"
        row.put("operators", f"are those of torch {made}; {lacking}")
    row.put("round trip", f"{answer.round_trip_ms:.1f} ms; ready in {answer.ready_s:.1f} s")


def _may_send(host: "Host", options: argparse.Namespace) -> bool:
    """Ask a person who sits there."""
    if options.json or not sys.stdin.isatty():
        return False
    sys.stderr.write(f"Send GradStudio's engine (1.2 MB) to ~/.cache/gradstudio at “{host.name}”? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class _Rows:
    """What is known so far, line by line; nothing for a reader of JSON."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def title(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)

    def put(self, name: str, text: str) -> None:
        if not self._quiet:
            print(f"  {name:<12} {text}", flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
