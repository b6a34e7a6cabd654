try:
    import os
    import torch
    import torch.nn as nn
except ImportError as error:
    print(error)
    raise ImportError


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 2)

    def forward(self, x):
        h = torch.tanh(self.fc(x))
        try:
            k = 2
        finally:
            os.getpid()
        out = h * k
        del h
        return out


torch.manual_seed(1)
net = Net(3)
x = torch.linspace(0, 1, 6, requires_grad=True)
net = net.to("cpu")
state = net.state_dict()
loss = net(x.view(2, 3)).pow(2).mean()
loss.backward()
grad = net.fc.weight.grad
print(os.path.basename("a/b"), sorted(state))
