import torch
import torch.nn as nn

torch.manual_seed(0)
layers = []
sizes = [4, 8, 8, 2]
for n_in, n_out in zip(sizes[:-1], sizes[1:]):
    layers.append(nn.Linear(n_in, n_out))
    layers.append(nn.Tanh())
net = nn.Sequential(*layers[:-1])
x = torch.randn(5, 4)
out = net(x)
acts = [x]
for layer in net:
    acts.append(layer(acts[-1]))
stats = []
for i, act in enumerate(acts):
    mean, std = act.mean().item(), act.std().item()
    stats.append((mean, std))
    print('layer %d: mean %+.4f, std %.4f' % (i, mean, std))
total = 0
for p in net.parameters():
    total += p.numel()
print(total)
for name, p in net.named_parameters():
    if p.dim() > 1:
        print(name, tuple(p.shape))
