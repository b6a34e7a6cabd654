"""The table of features says what the tests do, and the tool finds what is not so."""

import re

from tools import feature_table

ROWS = "".join(f"| {number} | Feature | no | how | old |\n" for number in range(1, 91))


def test_every_yes_in_the_docs_has_a_test_and_every_test_named_there_is_one() -> None:
    page, tests = feature_table.PAGE.read_text(encoding="utf-8"), feature_table.marks()
    filled, complaints = feature_table.filled(page, tests)
    assert complaints == []
    assert feature_table.COUNT.findall(filled) == feature_table.COUNT.findall(page)
    for line in page.splitlines():
        if row := feature_table.ROW.match(line):
            assert set(re.findall(r"`(.+?)`", row[5])) <= set(tests.get(int(row[1]), ()))


def test_tests_are_named_in_their_row_and_counted() -> None:
    page = "**0 of 90**\n" + ROWS.replace("| 7 | Feature | no", "| 7 | Feature | yes")
    filled, complaints = feature_table.filled(page, {7: ["a.py::one", "a.py::two", "b.py::three"]})
    assert not complaints
    assert "| 7 | Feature | yes | how | `a.py::one`, `a.py::two`, 1 more |" in filled
    assert filled.startswith("**1 of 90**")


def test_a_row_without_a_test_cannot_say_yes_and_no_row_may_lack() -> None:
    page = ROWS.replace("| 7 | Feature | no", "| 7 | Feature | yes").replace("| 90 |", "| 91 |")
    _, complaints = feature_table.filled(page, {})
    assert ["row 7" in complaints[0], "1 to 90" in complaints[1]] == [True, True]
