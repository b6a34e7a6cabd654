import torch
from torch import nn

torch.manual_seed(0)
config = {"hidden": 16, "lr": 1e-2, "epochs": 3, "a_rather_long_name_of_an_entry": [1, 2, 3], "another_long_name": 2.5}
one = {"only": config["hidden"]}
empty = {}
pair = {"x": torch.ones(2) * 2, "y": {"z": torch.zeros(1)}}
empty["loss"] = []
empty["loss"].append(pair["x"].sum().item())
total = pair["x"] + pair["y"]["z"]
has = "lr" in config
size = len(config)
print(config["lr"], one)
x = torch.randn(3, requires_grad=True)
out = {"loss": (x * 2).sum(), "logits": x}
out["loss"].backward()
