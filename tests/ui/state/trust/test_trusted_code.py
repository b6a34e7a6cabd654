"""What a person said yes to is kept for them alone; whatever is wrong with the file, nothing is trusted by it."""

import os
import stat
from pathlib import Path

import pytest

from gradstudio.ui.state.trust.trusted_code import FILE, MAX_DIGESTS, TrustedCode

ONE, OTHER = "1a" * 32, "2b" * 32


def test_a_yes_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    trusted = TrustedCode(tmp_path / "settings")
    assert ONE not in trusted
    trusted.add(ONE)
    assert ONE in TrustedCode(tmp_path / "settings")
    assert OTHER not in TrustedCode(tmp_path / "settings")
    assert stat.S_IMODE((tmp_path / "settings" / FILE).stat().st_mode) == 0o600
    assert not trusted.problem


def test_the_oldest_yes_is_forgotten_in_the_end(tmp_path: Path) -> None:
    digests = [f"{number:064x}" for number in range(MAX_DIGESTS + 1)]
    (tmp_path / FILE).write_text(str({"trusted": digests[:-1]}).replace("'", '"'))
    (tmp_path / FILE).chmod(0o600)
    TrustedCode(tmp_path).add(digests[-1])
    again = TrustedCode(tmp_path)
    assert digests[0] not in again
    assert digests[1] in again
    assert digests[-1] in again


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        f'["{ONE}"]',
        f'{{"trusted": "{ONE}"}}',
        f'{{"trusted": ["{ONE}", 7]}}',
        f'{{"trusted": ["{ONE}", "*"]}}',
        f'{{"trusted": ["{ONE}"], "all": true}}',
        f'{{"trusted": ["{ONE}"]' + " " * 300_000 + "}",
        "[" * 100_000,
    ],
    ids=["empty", "broken", "list", "strings", "text", "number", "no digest", "more", "huge", "deep"],
)
def test_a_file_that_holds_something_else_is_no_trust_and_is_told_of(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    (tmp_path / FILE).chmod(0o600)
    trusted = TrustedCode(tmp_path)
    assert ONE not in trusted
    assert "no code is trusted by it" in trusted.problem


@pytest.mark.skipif(os.name != "posix", reason="modes of files are posix's")
def test_a_file_that_others_may_write_or_that_is_a_link_is_no_trust(tmp_path: Path) -> None:
    TrustedCode(tmp_path).add(ONE)
    (tmp_path / FILE).chmod(0o666)
    trusted = TrustedCode(tmp_path)
    assert ONE not in trusted
    assert "others may write it" in trusted.problem
    (tmp_path / FILE).chmod(0o600)
    assert ONE in TrustedCode(tmp_path)
    (tmp_path / FILE).rename(tmp_path / "elsewhere")
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
    assert ONE not in TrustedCode(tmp_path)
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    assert ONE not in TrustedCode(tmp_path)  # and does not wait for ever


def test_a_folder_that_cannot_be_written_is_told_of_and_the_yes_holds_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "settings").write_text("a file")
    trusted = TrustedCode(tmp_path / "settings")
    trusted.add(ONE)
    assert ONE in trusted
    assert "not remembered" in trusted.problem
