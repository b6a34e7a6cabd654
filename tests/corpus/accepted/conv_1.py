import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
input = torch.randn(1, 1, 32, 32)
conv1 = nn.Conv2d(1, 6, 5)
conv2 = nn.Conv2d(6, 16, 5)
fc1 = nn.Linear(16 * 5 * 5, 120)
fc2 = nn.Linear(120, 84)
fc3 = nn.Linear(84, 10)

c1 = F.relu(conv1(input))
s2 = F.max_pool2d(c1, (2, 2))
c3 = F.relu(conv2(s2))
s4 = F.max_pool2d(c3, 2)
s4 = torch.flatten(s4, 1)
f5 = F.relu(fc1(s4))
f6 = F.relu(fc2(f5))
output = fc3(f6)

target = torch.randn(10)  # a dummy target, for example
target = target.view(1, -1)  # make it the same shape as output
criterion = nn.MSELoss()
loss = criterion(output, target)
conv1.zero_grad()
print('conv1.bias.grad before backward')
print(conv1.bias.grad)
loss.backward()
print('conv1.bias.grad after backward')
print(conv1.bias.grad)
