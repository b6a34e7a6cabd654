import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
path = os.path.join(tempfile.mkdtemp(), "model.pt")
torch.save(model.state_dict(), path)
other = nn.Linear(2, 2)
other.load_state_dict(torch.load(path, weights_only=True))
del path
same = torch.equal(model.weight, other.weight)
x = torch.ones(1, 2)
y = other(x)
print(same, y)
