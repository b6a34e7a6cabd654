import torch


def f(x, n):
    y = x * n
    for k, _ in {"a": 1, "b": 2}.items():
        y = y + 1
    d = {k: _ for k, _ in [("a", 1)]}
    a, _ = dict((k, y) for k in "ab"), dict((k, y) for k in "ab")
    if y.sum() > 1:
        y = y * 3
        y = y + len(d)
    return y


def g(x):
    y = x + 1
    _ = dict((k, 7) for k in "ab")
    if y.sum() > 1:
        y = y * 3
        y = y + 1
    print(dict((k, _) for k in "ab"))
    return y


z = f(torch.ones(2), 2)
w = g(torch.ones(2))
