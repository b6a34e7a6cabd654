"""What the pages say is so: their links lead somewhere, their file opens, their verbs exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("gradstudio/**/*.md")]
)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_the_file_in_the_description_of_the_format_is_written_exactly_so() -> None:
    from gradstudio.document import file

    (example,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "file-format.md").read_text(), re.DOTALL)
    assert file.dumps(file.loads(example)) == example


def test_the_rooms_in_the_description_of_the_architecture_are_those_there_are() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    described = set(re.findall(r"^\| \d+ \| `(\w+)/`", page, re.MULTILINE))
    rooms = {file.parent.name for file in (ROOT / "gradstudio").glob("*/__init__.py")}
    assert described == rooms


def test_the_page_of_the_examples_has_a_line_for_each_and_says_where_their_data_come_from() -> None:
    page = (ROOT / "examples" / "README.md").read_text()
    described = re.findall(r"^\| `(\w+\.gsg)` \| \S", page, re.MULTILINE)
    assert sorted(described) == sorted(file.name for file in (ROOT / "examples").glob("*.gsg"))
    assert "10.24432/C50P49" in page and "Creative Commons Attribution 4.0" in page


def test_the_changelog_has_a_part_for_what_is_not_released_yet() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_verbs_in_the_readme_are_those_of_the_command_line() -> None:
    promised = re.findall(r"^    gradstudio ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    for verb in promised:
        command = [sys.executable, "-m", "gradstudio", verb, "--help"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert answer.stdout.startswith(f"usage: gradstudio {verb}"), answer.stderr
    assert len(promised) >= 6
