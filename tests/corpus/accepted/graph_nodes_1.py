# The graph behind a result, read node by node.
import torch

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
q = 3 * a**3 - b**2
name = q.grad_fn.name()
first = q.grad_fn.next_functions[0][0]
word = first.name()
deeper = q.grad_fn.next_functions[1][0].next_functions[0][0]
leaf = deeper.variable
ways = len(q.grad_fn.next_functions)
y = a.exp()
kept = y.grad_fn._saved_result
exponent = b.pow(2).grad_fn._saved_exponent
version = a._version
with torch.no_grad():
    a += 1
later = a._version
view = a.view(2, 1)
base = view._base
whole = base is a
same = a.untyped_storage().data_ptr() == view.untyped_storage().data_ptr()
size = a.untyped_storage().nbytes()
at = a.data_ptr() == view.data_ptr()
