"""PyTorch's databases of samples without their own book-keeping; `apply` this beside them.

WORKAROUND(torch 2.13 reads the whole stack, with all source files, for each set of samples, to find a unittest whose
seed it takes): there is none, so it finds none at once; that saves three quarters of the time.
"""

from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core


def apply() -> None:
    """Let no stack be read from now on."""
    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
