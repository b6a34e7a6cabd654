from torch import nn


class Net(nn.Module):
    def __init__(self):  # refused: `__init__` of a module begins with `super().__init__()`
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)
