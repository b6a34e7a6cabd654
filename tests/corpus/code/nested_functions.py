import torch


def make_counter(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step


def apply(function, times):
    def inner(x):
        for _ in range(times):
            x = function(x)
        return x

    return inner


counter = make_counter(10)
first = counter()
second = counter(5)
twice = apply(torch.relu, 2)
y = twice(torch.tensor([-1.0, 2.0]))
print(first, second, y)
