# what this file is about
import json  # the format

import torch

# a table of settings
settings = json.loads('{"a": [1, 2], "b": null}')  # parsed

# two blank lines below


x = torch.tensor(settings["a"])
if settings["b"] is None:  # nothing there
    # so take the sum
    y = x.sum()  # of all

    z = y * 2
else:
    z = y = None
text = json.dumps(settings, indent=1)
print(y, z)
