import torch
import os


def newton(x, tol=1e-6):
    n = 0
    while (step := (x * x - 2) / (2 * x)).abs() > tol:
        x = x - step
        n += 1
        if n > 50:
            break
    return x, n


class Meter:
    def run(self, x):
        while x.norm() > 1:
            x = x * 0.5
        return x


def search(a):
    while True:
        a = a + torch.ones(1)
        if a > 5:
            return a


root, n = newton(torch.tensor(3.0, dtype=torch.float64))
small = Meter().run(torch.ones(4) * 3)
found = search(torch.zeros(1))
print(root, n, small, found)

w = torch.tensor([1.0, -2.0], requires_grad=True)
epoch = 0
loss = (w * w).sum()
while loss.item() > 0.5 and epoch < 20:
    loss = (w * w).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
    epoch += 1
    for k in range(3):
        if k == 1:
            break
        while True:
            if k < 2:
                break
print(epoch, loss, w, k)

names = ["a", "b", "c"]
while names:
    name = names.pop()
    if name == "b":
        continue
    v = torch.full((2,), float(len(names)))
    print(name, v)
while True:
    try:
        v = v * 2 + 1
        if v.sum() > 100:
            raise ValueError("large")
    except ValueError as e:
        print("stopped", e)
        break
i = 0
while i < 3: i += 1; z = torch.ones(i)
while i > 0:
    i -= 1
else:
    print("else", i, z)
while False:
    never = torch.ones(1)
while 1:
    z = z * 2
    break
