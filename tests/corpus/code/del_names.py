import torch

x = torch.ones(3)
y = x.clone()
del x
x = torch.zeros(2)
items = {"a": 1, "b": 2}
del items["a"]
left = list(items)
z = y.sum() + x.sum()
print(left, z)
