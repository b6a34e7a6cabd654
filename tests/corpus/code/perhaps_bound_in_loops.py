import torch

x = torch.ones(2, requires_grad=True)
for k in range(6):
    y = x * k
    loss = (y * y).sum()
    loss.backward()
    if k % 3 == 1:
        best = dict((k, y) for k in "ab")
        print(f"{k}: {sorted(best)}")
    if k > 2:
        print(best)
print(best)


def train(x, n):
    y = x
    for k in range(n):
        y = y * 2
        if k % 2:
            seen = dict((k, y) for k in "ab")
    return seen, y


def never(x, n):
    y = x
    for k in range(n):
        y = y * 2
        if k > 5:
            seen = dict((k, y) for k in "ab")
    return y


z, w = train(torch.ones(2), 3)
v = never(torch.ones(2), 3)
for epoch in range(2):
    for i, t in enumerate(torch.eye(2)):
        if i == 1:
            break
        x2 = t * 2
    print(dict((k, i) for k in "ab"))
    q = x * epoch
