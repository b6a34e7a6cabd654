"""Code that ends turns of loops whose other statements are drawn."""

import random

import torch
from torch import nn

random.seed(3)
torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
best = float("inf")
patience = {"left": 2}
seen = []
last = None

for epoch in range(30):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    if epoch % 3 == 1:
        seen.append(f"skipped {epoch}")
        continue
    loss.backward()
    optimizer.step()
    last = loss.item()
    if last > best - 0.02:
        patience["left"] -= 1
        if not patience["left"]:
            break
    best = min(best, last)
    after = epoch
print(epoch, after, round(last, 4), seen)

generator = iter(range(10))
total = torch.zeros(1)
for k in generator:
    with torch.no_grad():
        total = total + k
        if random.random() < -1 or k == 4:
            break
        total = total * 1.5
    last = k
print("rest", list(generator), total, torch.is_grad_enabled(), last)

for i in range(4):
    for j in range(4):
        value = torch.tensor(float(i * j))
        try:
            if j > i:
                break
            if i == 2:
                continue
        finally:
            seen.append((i, j))
        value = value + 1
    else_value = value * 2
    if i == 3:
        for q in range(3):
            if q == 1:
                break
        continue
    print(i, j, value, else_value)
print(seen[-3:], q)


def sample(model, start, count, end):
    out = [start]
    for _ in range(count):
        logits = model(torch.tensor(out[-1:] * 4, dtype=torch.float32))
        following = int(torch.round(logits * 3).item())
        if following == end or len(out) > end:
            break
        out.append(following)
    return out


print(sample(net, 1, 6, 3), sample(net, 2, 3, 40))


class Steps(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])
        self.limit = n - 1

    def forward(self, x):
        for k, layer in enumerate(self.layers):
            x = torch.tanh(layer(x))
            if k == self.limit or not patience:
                break
            x = x * 2
        return x


steps = Steps(3)
out = steps(x)
out.sum().backward()
print(out[0])
