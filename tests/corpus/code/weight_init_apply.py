import torch
from torch import nn

torch.manual_seed(0)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        m.bias.data.fill_(0.01)


net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
net.apply(init_weights)
total = sum(p.sum().item() for p in net.parameters())
x = torch.ones(1, 2)
y = net(x)
children = [type(c).__name__ for c in net.children()]
print(round(total, 3), children)
