"""Late draws: what is made once, and draws random numbers after a step has drawn some."""

from collections.abc import Iterable, Sequence
from typing import Final

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_units import Units

EARLIER: Final = "{names} made before the loop now, so {begin} with other random numbers than before."


def late_draws(units: Units, forward: Sequence[ItemId], set_up: Iterable[ItemId]) -> list[ItemId]:
    """The units that are made once and stand behind the first of `forward` that draws."""
    drawn = next(filter(units.draws, forward), None)
    if drawn is None:
        return []
    return [unit for unit in set_up if units.position[unit] > units.position[drawn] and units.draws(unit)]


def refuse_late(units: Units, forward: Sequence[ItemId], late: Sequence[ItemId]) -> None:
    """Refuse what a script would draw in another order than the canvas.

    Raises:
        NoForm: there are late draws; says what to move.
    """
    if late:
        first = title(units.graph, late[0])
        early = title(units.graph, next(filter(units.draws, forward)))
        raise NoForm(
            f"'{first}' draws random numbers after '{early}' has drawn some. A training script makes '{first}' "
            f"first, and so with other numbers than the canvas. Move '{first}' before '{early}' (Earlier)."
        )


def words_of_earlier(units: Units, late: Iterable[ItemId]) -> str:
    """What differs once late draws come before all that a step draws; "" of none."""
    other = [f"“{title(units.graph, unit)}”" for unit in late]
    if not other:
        return ""
    is_one = len(other) == 1
    told = other[0] if is_one else f"{', '.join(other[:-1])} and {other[-1]}"
    return EARLIER.format(names=f"{told} {'is' if is_one else 'are'}", begin="it begins" if is_one else "they begin")
