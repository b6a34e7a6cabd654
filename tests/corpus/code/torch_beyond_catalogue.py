import warnings
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DataParallel as Parallel
from torch.utils.data.distributed import DistributedSampler
from torch.distributed.algorithms.join import Joinable


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.parts = nn.ModuleDict(dict(a=nn.Linear(n, 4), b=nn.Linear(4, 2)))

    def forward(self, x):
        return self.parts.b(torch.relu(self.parts.a(x)))


def where():
    if dist.is_available():
        rank = dist.get_rank() if dist.is_initialized() else 0
    return rank


torch.manual_seed(0)
warnings.simplefilter("ignore")
net = Parallel(Net(3))
x = torch.ones(2, 3, requires_grad=True)
y = net(x)
y.sum().backward()
torch.testing.assert_close(y, y, rtol=0, atol=1e-6)
print(where(), torch.get_num_threads() > 0, issubclass(Joinable, object))
sampler = DistributedSampler(range(4), num_replicas=2, rank=1, shuffle=False)
places = list(sampler)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
optimizer.step()
