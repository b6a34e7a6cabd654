import contextlib

import torch


@contextlib.contextmanager
def doubled(x):
    yield x * 2


with doubled(torch.ones(2)) as d, torch.no_grad():
    y = d + 1
with torch.autograd.profiler.record_function("block"):
    z = y.sum()
with contextlib.suppress(ValueError):
    number = 1
    number = int("no number")
print(y, z, number)
