import types
import torch
import torch.nn as nn


def classes():
    class Judge(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.output_shape = (width, 1)
            self.out = nn.Linear(width, 1)

        def forward(self, x):
            return self.out(x)

    return types.SimpleNamespace(Judge=Judge)


def trained(kind, steps):
    torch.manual_seed(1)
    judge = kind(3).to("cpu")
    optimizer = torch.optim.SGD(judge.parameters(), lr=0.1)
    judge.train()
    for k in range(steps):
        if k:
            judge = judge.double().float()
        wanted = torch.ones((2, *judge.output_shape[1:]))
        loss = (judge(torch.ones(2, 3)) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    judge.eval()
    return judge, loss


def threads(count):
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    with torch.no_grad():
        print("threads", torch.get_num_threads())
    torch.set_num_threads(before)
    return count


found = classes()
judge, loss = trained(found.Judge, 3)
again = found.Judge(2)
if threads(1):
    again = again.cpu()
shape = torch.ones((4, *again.output_shape))
state = [key for key in again.state_dict()]
count = sum(one.numel() for one in judge.parameters())
print(loss.item(), shape.shape, state, count)
