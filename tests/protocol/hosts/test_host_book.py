"""Hosts are kept in a file of this person alone, and what could start something else is refused."""

import os
import stat
from pathlib import Path

import pytest

from gradstudio.protocol.errors import BadHost
from gradstudio.protocol.hosts.host_book import FILE, Host, HostBook

GPU = Host("gpu1", "me@gpu1", python="~/venv/bin/python")
BOX = Host("box", command="docker exec -i box")


def test_what_was_added_is_found_by_another_book_in_order_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    book = HostBook(tmp_path / "settings")
    assert book.hosts() == ()
    book.add(GPU)
    book.add(BOX)
    assert HostBook(tmp_path / "settings").hosts() == (GPU, BOX)
    assert HostBook(tmp_path / "settings").find("box") == BOX
    if os.name == "posix":
        assert stat.S_IMODE(book.path.stat().st_mode) == 0o600


def test_a_removed_host_is_gone_and_an_unknown_one_is_said_with_those_there_are(tmp_path: Path) -> None:
    book = HostBook(tmp_path)
    book.add(GPU)
    book.add(BOX)
    assert book.remove("gpu1") == GPU
    with pytest.raises(BadHost, match=r"no host “gpu1”. Known are: box"):
        book.find("gpu1")


def test_a_name_is_given_once(tmp_path: Path) -> None:
    book = HostBook(tmp_path)
    book.add(GPU)
    with pytest.raises(BadHost, match="already"):
        book.add(Host("gpu1", command="sh -c {engine}"))
    assert book.hosts() == (GPU,)


@pytest.mark.parametrize(
    "host",
    [
        Host("a", "-oProxyCommand=touch x"),
        Host("a", "me@far touch"),
        Host("a"),
        Host("a", "far", "docker exec -i box"),
        Host("a", command='docker "exec'),
        Host("a", command="  "),
        Host("a", "far", python=""),
        Host("../a", "far"),
        Host("-a", "far"),
        Host("a b", "far"),
    ],
)
def test_what_is_no_host_is_neither_kept_nor_read(tmp_path: Path, host: Host) -> None:
    book = HostBook(tmp_path)
    with pytest.raises(BadHost):
        book.add(host)
    assert not book.path.exists()
    with pytest.raises(BadHost):
        HostBook(tmp_path)._write((host,)) or book.hosts()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_others_may_write_starts_nothing(tmp_path: Path) -> None:
    book = HostBook(tmp_path)
    book.add(GPU)
    book.path.chmod(0o666)
    with pytest.raises(BadHost, match="others may write it"):
        book.find("gpu1")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hosts": [{"name": "a", "run": "x"}]}', '{"hosts": 3}'])
def test_a_file_that_holds_something_else_is_no_list_of_hosts(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(BadHost, match="is not read"):
        HostBook(tmp_path).hosts()
