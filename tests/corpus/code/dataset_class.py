import torch
from torch.utils.data import Dataset, DataLoader


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        x = torch.tensor(float(index))
        return x, x**2


dataset = Squares(10)
loader = DataLoader(dataset, batch_size=4, shuffle=False)
total = 0.0
sizes = []
for i, (x, y) in enumerate(loader):
    sizes.append(len(x))
    total += (y - x).sum().item()
size = len(dataset)
first = dataset[3]
print(size, sizes, total)
