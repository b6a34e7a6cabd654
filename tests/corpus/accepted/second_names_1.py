import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
loss_func = F.cross_entropy  # a function under a name of one's own
Layer = nn.Linear
act = torch.tanh

fc = Layer(3, 4)
x = torch.randn(2, 3)
with torch.autograd.set_grad_enabled(True):
    loss = loss_func(act(fc(x)), torch.tensor([0, 1]))
loss.backward()
for step in range(2):
    x = act(x)
act = x.sum()
print(torch.__version__ != "", act)
