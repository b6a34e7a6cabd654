import torch
dtype = torch.float
device = "cpu"
# device = torch.device("cuda:0") # Uncomment this to run on GPU
torch.set_default_dtype(torch.float64)
use_cuda = torch.cuda.is_available()
torch.manual_seed(7)
a = torch.randn(3, device=device, dtype=dtype)
b = torch.ones(3)
c = a.to(b)
