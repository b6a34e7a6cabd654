import torch
tensor = torch.rand(3, 4)
if torch.cuda.is_available():  # refused: .to(device)
    tensor = tensor.to("cuda")
