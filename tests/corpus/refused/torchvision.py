import torch
from torchvision import datasets, transforms  # refused: Write the data as a tensor
train = datasets.MNIST(root="data", train=True)
