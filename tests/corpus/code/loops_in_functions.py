import sys
import torch
import torch.nn as nn
import torch.nn.functional as F

limit = 3


def search(xs, goal):
    found = None
    steps = 0
    for x in xs:
        steps += 1
        y = F.relu(x - 1)
        if y.sum() > goal:
            found = y
            break
    return found, steps


def collect(n):
    out = []
    seen = {}
    for k in range(n):
        t = torch.full((2,), float(k))
        if k == 1:
            continue
        seen[k] = t
        out.append(t)
    while len(out) > limit:
        out.pop()
    return torch.stack(out), seen


def early(x, flag):
    n = dict((k, k) for k in range(3))
    if flag:
        return x + n[2]
    y = x * 2
    try:
        y = y / n[9]
    except KeyError as error:
        print("no", error)
    return y


def nothing(x):
    print("nothing", dict((k, x) for k in "a"))
    x.add_(1)


def generate(model, x, n):
    with torch.no_grad():
        for _ in range(n):
            x = model(x)
            x, *rest = x, 1, 2
        assert isinstance(x, torch.Tensor), f"{type(x)}"
        return x + len(rest)


def defaults(a, b=None, c=2.0, *, d=1):
    return a * c + d


def forward_ref(x):
    return helper(x) + 1


def helper(x):
    import math as m
    return x * m.pi


torch.manual_seed(3)
xs = [torch.randn(4) for _ in range(6)]
found, steps = search(xs, 0.5)
stacked, seen = collect(8)
p = early(torch.ones(2), True)
q = early(torch.ones(2), False)
z = torch.zeros(2)
r = nothing(z)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
s = generate(model, torch.ones(1, 2), 3)
t = defaults(torch.ones(2), d=4)
u = forward_ref(torch.ones(1, requires_grad=True))
u.backward()
print(found, steps, stacked, seen, p, q, z, r, s, t, u)
