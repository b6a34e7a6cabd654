import torch

try:
    import a_package_that_nobody_has as missing
except ImportError:
    missing = None

a = torch.ones(2, 3)
b = torch.ones(2, 3)
try:
    c = a @ b
except RuntimeError as error:
    message = str(error).split(":")[0]
    c = a @ b.T
else:
    message = ""
finally:
    done = True
print(message, c.shape, missing)
