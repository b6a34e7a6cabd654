"""Objects that code makes, and what is drawn around them: methods, attributes, a barrier between."""
import torch
from torch import nn


class Meter:
    def __init__(self, decay=0.5):
        self.decay = decay
        self.mean = 0.0
        self.seen = []

    def update(self, value, weight=1.0):
        self.mean = self.decay * self.mean + weight * float(value)
        self.seen.append(self.mean)
        return self.mean

    def scale_(self, tensor):
        with torch.no_grad():
            tensor.mul_(self.decay)
        return tensor


torch.manual_seed(3)
meter = Meter(decay=0.25)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3)
y = torch.randn(8, 1)
for step in range(4):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = meter.update(loss, weight=2)
    meter.update(loss.detach() * 2)
print(average, len(meter.seen), meter.mean)
z = torch.ones(4)
w = z * 2
meter.scale_(z)
v = z * 2
same = meter.scale_(z)
total = (w + v + same).sum() * meter.decay
print(total.item(), f"{meter.mean:.4f}", same is z)
