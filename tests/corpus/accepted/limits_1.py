# What torch is, what it can do here, and the limits of its dtypes.
import torch

torch.cuda.manual_seed_all(0)
where = "cuda" if torch.cuda.is_available() else "cpu"
apple = torch.backends.mps.is_available()
any_gpu = torch.accelerator.is_available()
count = torch.cuda.device_count()
largest = torch.finfo(torch.float32).max
info = torch.finfo(torch.float16)
eps = info.eps
smallest = torch.iinfo(torch.int8).min
t = torch.arange(6).reshape(2, 3)
wide = torch.result_type(t, 1.5)
both = torch.promote_types(torch.int32, torch.float16)
can = torch.can_cast(torch.float32, torch.int32)
is_tensor = torch.is_tensor(t)
n = torch.numel(t)
elements = t.shape.numel()
shape = torch.Size([2, 3])
equal = t.shape == shape
place = t.device.type
kind = t.type()
bytes_each = t.element_size()
mask_value = torch.full((2,), torch.finfo(torch.float32).min)
masked = torch.tensor([1.0, 2.0]).masked_fill(torch.tensor([True, False]), torch.finfo(torch.float32).min)
circle = 2 * torch.pi
