import torch
import torch.nn as nn
import torch.nn.functional as F


# a net
class Net(nn.Module):
    """Two layers."""

    def __init__(self, hidden=16, dropout=0.1):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)  # first
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(hidden, 1)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x):
        # relu
        x = F.relu(self.fc1(x))
        x = self.dropout(x)
        return self.fc2(x)


torch.manual_seed(0)
net = Net(hidden=8)
x = torch.randn(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _step in range(3):
    opt.zero_grad()
    out = net(x)
    loss = out.pow(2).mean()
    loss.backward()
    opt.step()
net.eval()
print(net.fc1.weight.shape)
y = net(x)
