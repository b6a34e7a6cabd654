"""A crash report names versions and the last lines of the log, and no path of the person's own."""

import logging
from pathlib import Path

from gradstudio.ui.app.crash_report import LAST_LINES, LastLines, report_of, without_private_paths


def failing() -> ValueError:
    try:
        raise ValueError(f"cannot read {Path.home()}/secret/thesis.gsg")
    except ValueError as error:
        return error


def test_it_has_traceback_versions_and_log_but_no_home() -> None:
    error = failing()
    report = report_of(type(error), error, error.__traceback__, ("12:00 INFO saved",))
    assert "ValueError: cannot read ~/secret/thesis.gsg" in report
    assert str(Path.home()) not in report
    for name in ("gradstudio ", "PySide6-Essentials ", "torch ", "Python 3."):
        assert name in report
    assert report.endswith("Last lines of the log:\n12:00 INFO saved")


def test_other_homes_and_folders_of_packages_are_left_out() -> None:
    package = Path(logging.__file__).parent
    assert without_private_paths(f"{package}/handlers.py") == "logging/handlers.py"
    assert without_private_paths("File /home/ada/x.py, /Users/bob/y") == "File ~/x.py, ~/y"


def test_only_the_last_lines_are_kept() -> None:
    lines = LastLines()
    for number in range(LAST_LINES + 5):
        lines.handle(logging.LogRecord("a", logging.INFO, "", 1, f"line {number}", None, None))
    assert len(lines.lines) == LAST_LINES and lines.lines[-1].endswith(f"line {LAST_LINES + 4}")
