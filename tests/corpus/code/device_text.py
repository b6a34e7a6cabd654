import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
print(f"Using {device} device")
dtype = torch.float32 if device == "cpu" else torch.float16
x = torch.ones(2, device=device, dtype=dtype)
y = x.to(device) * 2
kind = x.device.type
print(kind, y)
