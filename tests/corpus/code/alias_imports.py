import torch as th
import torch.nn as tnn
from torch import relu, tensor as T
from torch.nn import Linear, functional as func

th.manual_seed(0)
layer = Linear(2, 2)
x = T([[1.0, -1.0]])
helpers = {"relu": relu, "softmax": lambda t: func.softmax(t, dim=1)}
y = helpers["relu"](layer(x))
z = func.relu(x) + th.ones(1)
outs = [h(x) for h in helpers.values()]
print(len(outs), z)
