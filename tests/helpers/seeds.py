"""The same random numbers in every test, at little cost. Loads torch only where it is loaded already."""

import random
import sys


def seed_all() -> None:
    """Seeds every generator that is loaded."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        seed_torch(0)


def seed_torch(number: int) -> None:
    """Seeds torch, which is loaded, on the devices that are in use.

    `torch.manual_seed` also writes down the stack of its caller for each kind of device that is not in use, to seed it
    later: a millisecond or more under pytest, which seeds before each test and thousands of times in some.
    """
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized():
        torch.manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)
