import torch
from torch.utils.data import DataLoader, TensorDataset


def double(batch):
    return torch.stack([x for (x,) in batch]) * 2


def main():
    data = TensorDataset(torch.arange(6.0))
    loader = DataLoader(data, batch_size=2, num_workers=1, collate_fn=double)
    return [batch.tolist() for batch in loader]


if __name__ == "__main__":
    batches = main()
    print(batches)
