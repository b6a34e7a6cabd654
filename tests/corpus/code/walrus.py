import torch

values = iter([3, 2, 1, 0])
seen = []
while (v := next(values)) != 0:
    seen.append(v)
if (n := len(seen)) > 2:
    x = torch.ones(n)
total = sum(last := [k * 2 for k in seen])
print(seen, n, x, total, last)
