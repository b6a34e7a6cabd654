import torch

device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
print(f"Using {device} device")
x = torch.ones(2, 2).to(device)
y = torch.zeros(2, 2, device=device)
z = (x + y).cpu()
x.device
w = torch.rand(3).to(device, dtype=torch.float64)
