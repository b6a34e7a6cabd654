import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(3, 1)
xs = torch.randn(8, 3)
ys = torch.randn(8, 1)
batches = [(xs[:4], ys[:4]), (xs[4:], ys[4:])]
accumulate = 2
model.zero_grad()
for k, (xb, yb) in enumerate(batches):
    loss = nn.functional.mse_loss(model(xb), yb) / accumulate
    loss.backward()
grads = model.weight.grad.clone()
model.zero_grad()
nn.functional.mse_loss(model(xs), ys).backward()
same = torch.allclose(grads, model.weight.grad)
print(same)
