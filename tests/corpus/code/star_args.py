import torch


def add(*values, scale=1.0, **extra):
    total = sum(values) * scale
    return total + len(extra)


parts = [torch.ones(2), torch.ones(2) * 2]
options = {"scale": 2.0, "a": 1, "b": 2}
y = add(*parts, **options)
first, *rest = range(4)
shape = (2, 3)
z = torch.zeros(*shape, dtype=torch.float64)
print(y, first, rest, z.shape)
