import torch

learning_rate = 0.1
config_keys = [k for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))]
exec("learning_rate = 0.2")
config = dict((k, globals()[k]) for k in config_keys)
x = torch.ones(2) * learning_rate
print(sorted(config), x)
