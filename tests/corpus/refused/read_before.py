import torch
for i in range(3):  # refused: before anything binds it
    total = total + i
