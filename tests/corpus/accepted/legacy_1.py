# How tensors were made before torch.tensor, as old tutorials have it.
import torch
from torch.autograd import Variable

plain = torch.Tensor([1, 2, 3])
table = torch.Tensor([[1, 2], [3, 4]])
size = torch.Tensor(2, 3).size()
singles = torch.FloatTensor([[1, 2], [3, 4]])
doubles = torch.DoubleTensor([0.5, 0.25])
labels = torch.LongTensor([0, 1])
flags = torch.ByteTensor([1, 0])
truth = torch.BoolTensor([True, False])
x = Variable(torch.ones(2, 2), requires_grad=True)
y = x + 2
out = (y * y * 3).mean()
out.backward()
slope = x.grad.data
picked = singles[labels]
cast = plain.type(torch.DoubleTensor)
same = cast.type()
