import torch

x = torch.zeros(2, 3, 4)
shape = (1,) + tuple(x.shape) + (5,)
flat = x.reshape(x.shape[0], -1)
sizes = list(x.shape)
sizes[-1] = 12
sizes = sizes[:1] + [sizes[2]] + [1] * 2
copies = [x[0]] * 3
stacked = torch.stack(copies)
is_float = x.dtype in (torch.float32, torch.float64)
big = x.numel() > 10 and x.dim() == 3
dims = len(x.shape)
last = dims - 1 if dims else None
parts = torch.ones(*x.shape[:2])
order = tuple(range(dims))[::-1]
turned = x.permute(*order)
named = type(x).__name__ + str(tuple(turned.shape))
ok = isinstance(x, torch.Tensor) and not isinstance(dims, (float, str))
names = ["batch", "rows"]
names.append("columns")
names += ["more"]
extra = names.pop()
names.insert(0, extra.upper())
pairs = list(zip(names, list(x.shape) + [0]))
where = names.index("rows")
everything = [*names, "end"]
print(*everything, sep=" > ")
