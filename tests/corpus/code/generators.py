import torch


def batches(x, size):
    for start in range(0, len(x), size):
        yield x[start : start + size]


x = torch.arange(7)
sums = [b.sum().item() for b in batches(x, 3)]
total = sum(b.sum() for b in batches(x, 2))
g = batches(x, 4)
one = next(g)
rest = list(g)
print(sums, total, one)
