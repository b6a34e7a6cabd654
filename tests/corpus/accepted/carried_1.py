import torch

w = torch.zeros(2, requires_grad=True)
velocity = torch.zeros(2)
best, best_step, patience = float('inf'), -1, 0
history = []
target = torch.tensor([1., -1.])
for step in range(5):
    loss = ((w - target) ** 2).sum()
    loss.backward()
    velocity = 0.9 * velocity - 0.1 * w.grad
    with torch.no_grad():
        w += velocity
    w.grad = None
    value = loss.item()
    best_step = step if value < best else best_step
    best = min(best, value)
    history.append(value)
    pair = (best, best_step)
final = history[-1]
print(best, best_step, len(history), pair)
x0, x1 = 1.0, 2.0
for _ in range(4):
    x0, x1 = x1, x1 - (x1 ** 2 - 2) / (2 * x1)
xs = torch.linspace(0, 1, 4)
acc = xs[0]
for v in xs[1:]:
    acc = acc * v + 1
running = 0.
for k, v in enumerate(xs):
    running += (v - running) / (k + 1)
state = (torch.zeros(2), torch.ones(2))
for _ in range(3):
    p, q = state
    state = (q, p + q)
