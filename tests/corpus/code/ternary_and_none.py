import torch

model = None
name = model.__class__.__name__ if model is not None else "nothing"
x = torch.tensor([3.0, -1.0])
sign = ["neg", "zero", "pos"][int(torch.sign(x[0]).item()) + 1]
limit = None
value = (limit or 5) if x.sum() > 0 else 0
assert isinstance(value, int), "a number"
print(name, sign, value)
