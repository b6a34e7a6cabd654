"""Work in slices is given up where what it began with does not hold any more."""

from gradstudio.graph.slices import Slices, while_it_holds, work_through


def three(done: list[int]) -> Slices[str]:
    """Three slices, and a word."""
    for k in range(3):
        done.append(k)
        yield
    return "made"


def test_a_work_whose_ground_holds_makes_what_it_makes() -> None:
    done = list[int]()
    assert work_through(while_it_holds(three(done), lambda: True)) == "made"
    assert done == [0, 1, 2]


def test_a_work_whose_ground_is_gone_at_a_stop_makes_nothing_more() -> None:
    done = list[int]()
    assert work_through(while_it_holds(three(done), lambda: len(done) < 2)) is None
    assert done == [0, 1]
