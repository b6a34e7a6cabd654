import torch

x = torch.tensor(10.0, requires_grad=True)
steps = 0
while x.item() > 1.0:
    y = x**2
    y.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    x.grad.zero_()
    steps += 1
    if steps > 100:
        break
print(steps, x)
