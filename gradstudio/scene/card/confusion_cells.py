"""Where the cells of a confusion matrix lie on a card, and what one says. No Qt."""

from typing import Final

from gradstudio.protocol.messages.charts import ConfusionDrawn
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.card.section_heights import CHART, EDGE, LINE, printout_height
from gradstudio.scene.geometry import Box

NAMES: Final = 15.0
"""Beside the rows and above the columns, for the numbers of classes."""
AXIS: Final = 11.0
"""Outside of these, for what the axis is."""
CAPTION: Final = LINE + 2
Cell = tuple[int, int]


def cells_in(room: Box) -> Box:
    """Where the cells are, with the names of classes and axes beside them."""
    edge = NAMES + AXIS
    return Box(room.x + edge, room.y + edge, room.width - edge, room.height - edge)


def cell_at(well: ResultSections, width: float, x: float, y: float) -> Cell | None:
    """Row and column of the cell there, from the left and the end of the ports of a card so wide; None beside them."""
    if not isinstance(well.chart, ConfusionDrawn):
        return None
    top = well.leaves.height + sum(section.height for section in well.sections) + printout_height(well.printout) + EDGE
    cells = cells_in(Box(PADDING, top + CAPTION, width - 2 * PADDING, CHART - CAPTION))
    count = len(well.chart.counts)
    column, row = ((x - cells.x) / cells.width * count, (y - cells.y) / cells.height * count)
    return (int(row), int(column)) if 0 <= row < count and 0 <= column < count else None


def counts_text(drawn: ConfusionDrawn) -> str:
    """All counts as tab-separated values, as a spreadsheet takes them: a line for each target."""
    heads = ["target \\ said", *map(str, range(len(drawn.counts)))]
    lines = [[str(target), *map(str, counts)] for target, counts in enumerate(drawn.counts)]
    return "\n".join("\t".join(line) for line in (heads, *lines))


def cell_words(drawn: ConfusionDrawn, cell: Cell) -> str:
    """``target 3, said 5: 12 of 90``: of the rows with that target."""
    row, column = cell
    return f"target {row}, said {column}: {drawn.counts[row][column]:,} of {sum(drawn.counts[row]):,}"
