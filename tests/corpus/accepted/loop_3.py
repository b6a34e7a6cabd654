import torch

xs = [torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0)]
total = 0
for x in xs:
    total = total + x
losses = []
h = torch.zeros(2)
for i in range(len(xs)):
    h = torch.tanh(h + xs[i])
    losses.append(h.sum().item())
count = 0
for _ in range(3):
    count += 1
for i, x in enumerate(xs):
    last = x * i
for a, b in zip(xs, losses):
    pair = a * b
for t in reversed(range(3)):
    k = t
for row in torch.arange(6.).reshape(2, 3):
    s = row.sum()
for p, (u, v) in enumerate([(1, 2), (3, 4)]):
    w = p + u * v
for n in (2, 3):
    for m in range(1, n):
        area = n * m
print(i, n, m)
