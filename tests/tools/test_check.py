"""All stages run, whatever fails before them, and their tests are counted together."""

from pathlib import Path

import pytest

from tools import check

REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}" time="1.25"/></testsuites>'


def test_a_stage_that_fails_stops_no_other_and_fails_the_whole() -> None:
    ran: list[str] = []

    def stage(title: str, passes: bool) -> check.Stage:
        return check.Stage(title, lambda: ran.append(title) or passes)

    assert not check.run_all([stage("a", True), stage("b", False), stage("c", True)])
    assert ran == ["a", "b", "c"]
    assert check.run_all([stage("a", True)])


def test_the_last_line_counts_the_tests_of_all_runs(tmp_path: Path) -> None:
    counts = check.Counts()
    for name, numbers in (("pure.xml", (10, 1, 0, 2)), ("rest.xml", (5, 0, 1, 0))):
        (tmp_path / name).write_text(REPORT.format(*numbers))
        counts.add(tmp_path / name)
    assert counts.line().strip("= ") == "1 failed, 11 passed, 2 skipped, 1 errors in 2.50s"
    assert counts.line(2).strip("= ").startswith("2 stages failed, 1 failed")


def test_a_run_that_broke_off_before_its_report_is_not_counted(tmp_path: Path) -> None:
    counts = check.Counts()
    counts.add(tmp_path / "missing.xml")
    assert "no tests ran" in counts.line()


def test_what_runs_beside_is_told_at_its_stage(capfd: pytest.CaptureFixture[str]) -> None:
    good, bad = check.Beside("this"), check.Beside("no_such_module")
    assert capfd.readouterr().out == ""
    assert good.has_passed()
    assert "Beautiful is better than ugly." in capfd.readouterr().out
    assert not bad.has_passed()
    assert "No module named no_such_module" in capfd.readouterr().out
