import torch
t = 0
for i in range(3):
    for j in range(i):
        t += i * j
        last = j
    i = i * 10
    h = t
print(i, j, last, h)
out = torch.zeros(3)
for i, v in enumerate([3, 1, 2]):
    out[i] = v
    v = v + 1
v
for i in range(0):
    never = i
for a in [torch.ones(1), torch.zeros(1)]:
    a += 1
    b = a
for k in range(2):
    for k2 in range(2):
        c = k + k2
    d = c
c2 = c
p = torch.ones(2)
for q in (p, p):
    q.mul_(2)
xs = [p]
for z in range(2):
    xs.append(xs[-1] * 2)
    xs = xs + [z]
n = len(xs)
f = torch.tensor([1.0])
for i in range(3):
    g = f
    f = f * 2
    f += 1
r = 1.0
for i in range(3):
    r *= 0.5
    old = r
    r = r + i if i > 0 else r
