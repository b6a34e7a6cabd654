import torch
xs = [1.0, 2.0]
d = torch.tensor(xs)
xs.append(3.0)
xs += [4.0]
xs = xs + [5.0]
ys = xs[:]
ys[0] = 10
del_me = 3
ys[1:3] = [7, 8]
m = [[1, 2], [3, 4]]
m[0][1] = 9
row = m[1]
row.append(5)
n = len(m[1])
nested = torch.tensor([[1, 2], [3, 4]])
flat = sum(m, [])
tup = (1, 2, 3)
a, b, c = tup
a, b = b, a
s = tup[1:] + (4,)
total = 0
for v in xs:
    total += v
for i, v in enumerate(ys):
    total += i * v
for u, v in zip(xs, ys):
    total -= u * v
for j in reversed(range(3)):
    total += j
losses = []
for e in range(3):
    losses.append(e ** 2)
avg = sum(losses) / len(losses)
mn, mx = min(losses), max(losses)
best = losses.index(mx)
