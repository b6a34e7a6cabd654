"""Names of builtins are names like any other."""
import torch

input = torch.randn(3, 5, requires_grad=True)
sum = input.sum()
iter = 3
max = input.max()
id, type = 1, 2
for iter in range(2):
    dir = iter * 2
filter = torch.ones(1, 1, 3)
out = torch.nn.functional.conv1d(input[:, None], filter)
hash = out.shape
object = out.mean(); object.backward()
lr = 0.1; vars = lr * 2;
next = 5
