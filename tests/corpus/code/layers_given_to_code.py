import types
import torch
import torch.nn as nn


class Plain:
    def __init__(self):
        self.fc = nn.Linear(3, 2)
        self.seen = []

    def __setattr__(self, name, value):
        self.__dict__[name] = value
        self.__dict__.setdefault("names", []).append(name)


def pretrained(width):
    net = nn.Module()
    net.body = nn.Linear(width, 4)
    net.fc = nn.Linear(4, 9)
    return {"net": net}["net"]


torch.manual_seed(3)
settings = types.SimpleNamespace(rate=0.1)
model = pretrained(3)
for parameter in model.parameters():
    parameter.requires_grad = False
model.fc = nn.Linear(model.fc.in_features, 2)
model.body.bias = nn.Parameter(torch.zeros(4))
plain = Plain()
plain.fc = nn.Linear(3, 5)
settings.shape = torch.zeros(2, 5)
settings.device_ = torch.device("cpu")
optimizer = torch.optim.SGD(model.fc.parameters(), lr=settings.rate)
x = torch.ones(2, 3, device=settings.device_)
loss = model.fc(model.body(x)).square().sum() + (plain.fc(x) - settings.shape).square().sum()
loss.backward()
optimizer.step()
print(plain.names, sorted(vars(settings)), [name for name, _ in model.named_parameters()])
print(loss.item(), plain.fc.weight.grad.sum().item(), model.body.weight.grad)
