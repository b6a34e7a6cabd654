import torch

device = 'cuda' if torch.cuda.is_available() else 'cpu'
a = torch.tensor([1., 2.]).to(device)
b = a.to("cpu")
use_cuda = torch.cuda.is_available()
c = torch.randn(2, device='cpu')
a.is_cuda
