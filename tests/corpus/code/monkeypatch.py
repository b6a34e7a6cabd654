import torch
import torch.nn.functional as F

original = F.relu


def louder(x, inplace=False):
    return original(x) * 10


x = torch.tensor([-1.0, 2.0])
a = F.relu(x)
F.relu = louder
b = F.relu(x)
F.relu = original
c = F.relu(x)
print(a, b, c)
