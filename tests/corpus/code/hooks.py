import torch
from torch import nn

torch.manual_seed(0)
seen = []
activations = {}


def remember(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()

    return hook


model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
handle = model[0].register_forward_hook(remember("first"))
x = torch.ones(1, 2, requires_grad=True)
x.register_hook(lambda g: seen.append(g.clone()))
y = model(x).sum()
y.backward()
handle.remove()
count = len(seen)
shape = activations["first"].shape
print(count, shape)
