import torch
x = torch.randn(())
if x > 0:
    print("positive")
else:
    print("negative")  # refused: second `if`
