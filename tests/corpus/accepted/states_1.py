# What a model consists of, and its state taken over by another one.
import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
state = model.state_dict()
first = state["0.weight"]
twin = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
twin.load_state_dict(model.state_dict())
for key in model.state_dict().keys():
    print(key)
for key, value in state.items():
    print(key, "\t", value.size())
for name, p in model.named_parameters():
    print(name, tuple(p.shape), p.requires_grad)
total = 0
for p in model.parameters():
    total += p.numel()
for child in model.children():
    print(child)
hidden = model[0].weight
body = model[0:2]
layers = len(model)
model.append(nn.Sigmoid())
model.add_module("last", nn.Identity())
model.register_buffer("seen", torch.zeros(1))
bigger = len(model)
heads = nn.ModuleList([nn.Linear(4, 1)])
heads.append(nn.Linear(4, 2))
h = body(torch.ones(3, 2))
out = heads[1](h)
size = next(model.parameters()).shape
nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
flat = nn.utils.parameters_to_vector(twin.parameters())
