import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(8, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
data, target = torch.randn(2, 8), torch.tensor([1, 3])
with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
    output = model(data)
    loss = nn.functional.cross_entropy(output.float(), target)
loss.backward()
opt.step()
output.dtype, loss.dtype
with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    again = model(data)
