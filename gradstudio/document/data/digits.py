"""The handwritten digits that come with the program, as data to learn from."""

import numpy as np

from gradstudio.document.data.model import Choice, Prepared, Rows, Samples
from gradstudio.document.data.split import prepared
from gradstudio.paths import resources

TOP = 16
"""The largest grey value."""
NOTES = (
    "pictures of 8 × 8, grey values 0 … 16 divided by 16",
    "from Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning "
    "Repository, https://doi.org/10.24432/C50P49, CC BY 4.0",
)


def digits() -> Prepared:
    """X ``(rows, 64)`` of 0 … 1 and y, the digit of each; a fifth of the rows is kept to validate."""
    table = np.loadtxt(resources() / "data" / "digits.csv.gz", delimiter=",", dtype=np.float32)
    rows = Rows(table[:, :-1] / np.float32(TOP), table[:, -1].astype(np.int64))
    return prepared("digits", Samples(rows, notes=NOTES), Choice())
