import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(8, 2), torch.randn(8))  # refused: X[k : k + n]
for xb, yb in DataLoader(data, batch_size=4):
    pass
