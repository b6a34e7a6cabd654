import torch

print(torch.__version__ > "1")
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
settings = {"num_workers": 1} if device.type == "cuda" else {}
model = torch.nn.Linear(2, 1).to(device)
count = len(settings)
x = torch.ones(1, 2).to(device)
y = model(x).shape
print(device, y)
