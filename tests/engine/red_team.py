"""Texts that reach for what no drawing may have, a line each; the guard refuses every one where it stands.

No Qt here, and no file of ours: each line runs behind `HEAD`, "\\n" stands for the end of a line.
"""

HEAD = """import torch
from torch import nn
import torch.nn.functional as F
import numpy as np
import math
import torch.nn.utils.prune
x = torch.ones(2, 2, requires_grad=True)
fc = nn.Linear(2, 2)
r = np.random.default_rng(0)
a = np.ones(3)
"""
REFUSED = r"""
y = x.untyped_storage().tolist
y = x.storage()._untyped_storage
y = x.storage().pickle_storage_type
y = a.flat.base
y = np.array([type(x)])[0]("A", (), {})
y = np.array(fc).item().forward
y = "{0.__class__.__init__.__globals__}".format(fc)
y = f"{fc.__init__.__globals__}"
y = "{0[a].forward}".format({"a": fc})
y = "{a.__class__.__mro__}".format(a=fc)
y = str.format("{0.forward}", fc)
y = "".join
y = "abc".format
y = np.array(["{0.forward}"])[0].format(fc)
y = np.str_("{0.forward}")
y = "a".__class__.format("{0.forward}", fc)
y = fc.parameters().gi_frame
y = fc.parameters().send(None)
y = fc.named_modules().throw(1)
y = fc.state_dict()._metadata
y = fc.state_dict().popitem()
y = type(fc.state_dict())(a=1)
y = x.sum().grad_fn.metadata
y = x.sum().grad_fn.register_hook(print)
y = (x*2).grad_fn._raw_saved_self
y = (x*2).grad_fn._input_metadata
y = x.register_hook(print)
y = x.__torch_function__
y = x.__cuda_array_interface__
y = x.__reduce_ex__(2)
y = x.__setstate__
y = x.__class__._make_subclass
y = x.__class__(1)
x.__class__ = type(fc)
fc.__class__ = type(x)
fc.__dict__ = {}
fc.forward = print
fc._forward_hooks = {1: print}
fc._parameters = {}
t = nn.TransformerEncoderLayer(4, 2, **{"activation": print})
t = nn.TripletMarginWithDistanceLoss(**{"distance_function": repr})
o = torch.optim.LBFGS([x], lr=0.1)\ny = o.step(lambda: 1)
o = torch.optim.SGD([x], lr=0.1)\ny = o.state.default_factory()
o = torch.optim.SGD([x], lr=0.1)\no.__setstate__({})
o = torch.optim.SGD([x], lr=0.1)\no.profile_hook_step(1)
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.lr_scheduler.LambdaLR(o, print)
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.lr_scheduler.StepLR(o, 1)\ny = s.step.__func__
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.lr_scheduler.StepLR(o, 1)\ny = s.optimizer.step.__globals__
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.lr_scheduler.StepLR(o, 1)\ny = s.state_dict()
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.lr_scheduler.OneCycleLR(o, 1, 10)\ny = s._anneal_func_type
o = torch.optim.SGD([x], lr=0.1)\ns = torch.optim.swa_utils.SWALR(o, 1)\ny = s.anneal_func
y = torch.ops.aten.relu(x)
y = torch._C
y = torch.jit.load("x")
y = torch.hub.load("a", "b")
y = torch.load("x")
y = torch.save(x, "CANARY")
y = torch.from_file("x")
y = torch.classes
y = torch.package
y = torch.utils.data
y = torch.utils.cpp_extension.load
y = torch.serialization
y = torch.multiprocessing
y = torch.UntypedStorage(10)
y = torch.UntypedStorage.from_file("x", True, 10)
y = torch.Tensor.__torch_function__
y = torch.Tensor.set_
y = x.set_(x)
y = x.map_(x, print)
y = x.apply_(print)
y = x.share_memory_()
y = x.to_mkldnn()
y = np.load("x")
y = np.save("CANARY", a)
y = np.memmap("CANARY", mode="w+", shape=3)
y = np.fromfile("x")
y = np.loadtxt("/etc/passwd")
y = np.genfromtxt("/etc/passwd")
y = a.tofile("CANARY")
y = a.dump("CANARY")
y = a.ctypes
y = a.data
y = a.__array_interface__
y = a.__reduce__()
y = a.setflags(write=1)
a.flags.writeable = True
a.shape = (1, 3)
a.strides = (10**9,)
a.dtype = "O"
y = np.lib.stride_tricks.as_strided(a, (10**9,))
y = np.ctypeslib
y = np.core
y = np.f2py
y = np.testing
y = np.random.RandomState(0).__reduce__()
y = np.random.RandomState(0).get_state
y = r.bit_generator
y = type(r)(print)
y = r.spawn(1)
y = print(*[1], **{"file": fc})
y = type(fc).__init__
y = type(nn.ReLU)("A", (), {})
y = super
y = super()
y = __build_class__
y = __import__("os")
y = (1).__class__("5")
y = type(None)()
y = type(x.shape)([1])
y = type(x.max(dim=0))((x, x))
y = x.max(dim=0).count
y = x.shape.numel
y = x.dtype.to_complex()
y = x.device.__reduce__
torch.relu = print
nn.Linear.forward = print
x.backward = print
y = torch.autograd.Function
y = torch.autograd.graph.saved_tensors_hooks(print, print)
y = torch.nn.utils.parametrize.register_parametrization(fc, "weight", fc)
y = torch.nn.utils.parametrizations.orthogonal(fc)\ny = fc.parametrizations.weight.right_inverse(x)
y = fc.apply(print)
y = fc._call_impl(x)
y = fc.__call__(x)
y = fc.children().gi_code
y = fc.extra_repr
y = nn.Module.__subclasses__()
class A(nn.Module):\n    def __getattr__(self, n):\n        return 1\n\ny = A()
class A(nn.Module):\n    x = 3\n\ny = A()
def f(*q):\n    return q\n\ny = f.__globals__
def f(*q):\n    return q\n\ny = f.__code__
def f(*q):\n    return q\n\ny = type(f)(1, {})
y = math.__spec__.loader
y = math.sqrt.__self__
y = torch.nn.modules
y = nn.modules
y = nn.functional
y = F.torch
y = nn.init
y = torch.nn.init.torch
y = torch.optim.sgd
y = torch.optim.Optimizer.step
y = torch.autograd.grad_mode
y = x if __debug__ else 0
y = (x, x.__doc__)
y = x.__dict__
y = ().__class__.__base__.__subclasses__()
y = [].append.__self__
y = {}.get("a")
y = {}.setdefault("a", 1)
y = {"a": 1}.items().mapping
y = {}.fromkeys
y = "a".encode()
y = "a".maketrans
y = "a".format_map({})
y = (1).to_bytes(2, "big")
y = (1).from_bytes
y = 1.0.hex()
y = slice(1).indices(3)
y = range(3).index(1)
y = {1}.pop()
y = np.dtype("O").type
y = np.dtype("f8").newbyteorder
y = np.ravel([fc])[0].forward
y = np.vectorize(print)
y = np.apply_along_axis(print, 0, a)
y = np.frompyfunc
y = np.piecewise(a, [a>0], [print])
np.set_printoptions(**{"formatter": {"float": type}})\ny = str(a)
y = np.einsum_path
y = np.pad(a, 1, **{"mode": print})
y = F.multi_head_attention_forward
y = F.triplet_margin_with_distance_loss(x, x, x, **{"distance_function": print})
y = F.max_pool1d_with_indices
y = F.relu.__wrapped__
y = F.boolean_dispatch
y = torch.masked.sum.__globals__
p = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])\ny = type(p)(print, x)
p = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])\ny = p._replace
p = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])\ny = p.pin_memory
g = torch.amp.GradScaler("cpu")\ny = g._per_optimizer_states
g = torch.amp.GradScaler("cpu")\ny = g.state_dict
g = torch.amp.GradScaler("cpu", enabled=False)\ny = g.step(torch.optim.LBFGS([x], lr=1.0), **{"closure": repr})
o = torch.optim.LBFGS([x])\ny = o.step(**{"closure": len})
y = sorted(*[[fc]], **{"key": print})
y = max(*[[1], [2]], **{"key": type})
y = torch.Tensor.indices(torch.eye(2).to_sparse().coalesce())
y = torch.Tensor.col_indices(torch.eye(2).to_sparse_csr())
y = torch.nn.Module.load_state_dict(x, {})
y = torch.nn.Module.register_buffer(fc, "a", x)
y = torch.optim.Optimizer.step(fc)
y = torch.optim.Optimizer.load_state_dict(fc, {})
y = nn.Module.add_module(fc, "__array_interface__", fc)
y = torch.Tensor.data
y = torch.optim.Optimizer.step
y = torch.sparse_coo_tensor
y = [torch.sparse_coo_tensor][0]
y = F.relu
y = np.where
y = math.sqrt
y = F.multi_head_attention_forward
y = sorted([fc], **{"key": type(type(fc))})
y = max(*[[1], [2]], **{"key": print})
y = torch.ones(2, **{"layout": torch.sparse_csr})
y = iter(*[type(type(fc)), 3])
y = nn.TransformerEncoderLayer(*[4, 2, 8, 0.1, type(fc.parameters())])
y = nn.TransformerEncoderLayer(4, 2, activation=type(type(fc)))
o = torch.optim.LBFGS([x])\ny = o.step(*[type(x)])
y = np.pad(a, 1, mode=type(type(fc)))
y = np.pad(a, 1, type(type(fc)))
np.set_printoptions(override_repr=type(type(fc)))
np.set_printoptions(formatter={"float": type(type(fc))})
fc.act = type(type(fc))
t = nn.TransformerEncoderLayer(4, 2)\nt.activation = type(x)
t = nn.TransformerEncoderLayer(4, 2)\nt.activation, b = type(x), 1
for fc.act in [type(x)]:\n    y = 1
with torch.no_grad() as fc.act:\n    y = 1
fc.a = fc.act = type(x)
[fc.act] = [type(x)]
t = nn.TransformerEncoderLayer(4, 2)\nt.activation = torch.sparse_coo_tensor
np.set_printoptions(*[8, 1000, 3, 75, False, "nan", "inf", {"all": type(type(fc))}])
y = torch.lobpcg(torch.eye(9), 1, tracker=type(type(x)))
y = torch.lobpcg(torch.eye(9), 1, None, torch.ones(9, 1), None, None, None, True, "basic", type(type(x)))
""".strip().splitlines()
