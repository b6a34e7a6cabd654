import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)


class Residual(nn.Module):
    widening = 2

    def __init__(self, inside, outside, step=1):
        super(Residual, self).__init__()
        self.first = nn.Conv2d(inside, outside, 3, stride=step, padding=1)
        self.norm = nn.BatchNorm2d(outside)
        self.second = nn.Conv2d(outside, outside * self.widening, 3, padding=1)
        self.around = nn.Sequential()
        if step != 1 or inside != outside * self.widening:
            self.around = nn.Sequential(nn.Conv2d(inside, outside * self.widening, 1, stride=step))

    def forward(self, x):
        y = self.second(F.relu(self.norm(self.first(x))))
        y += self.around(x)
        return F.relu(y)


class Stages(nn.Module):
    def __init__(self, kind, depths, classes=3):
        super(Stages, self).__init__()
        self.width = 4
        self.stem = nn.Conv2d(1, self.width, 3, padding=1)
        self.early = self._stage(kind, 4, depths[0])
        self.late = self._stage(kind, 8, depths[1], step=2)
        self.head = nn.Linear(8 * kind.widening, classes)

    def _stage(self, kind, width, depth, step=1, squeeze=False):
        if squeeze:
            width = width // 2
        steps = [step] + [1] * (depth - 1)
        parts = []
        for step in steps:
            parts.append(kind(self.width, width, step))
            self.width = width * kind.widening
        return nn.Sequential(*parts)

    def forward(self, x):
        y = self.late(self.early(self.stem(x)))
        return self.head(y.mean((2, 3)))


net = Stages(Residual, [2, 1])
x = torch.randn(2, 1, 6, 6)
loss = F.cross_entropy(net(x), torch.tensor([0, 2]))
loss.backward()
slopes = [p.grad.sum() for p in net.parameters()]
print(net, loss)
