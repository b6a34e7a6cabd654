"""What an operator is: frozen records that describe one row of the catalogue. No torch here."""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What an argument takes, and so which editor and which wires fit its port."""

    TENSOR = "tensor"
    NUMBER = "number"  # int, float, complex or bool
    TENSOR_OR_NUMBER = "tensor_or_number"
    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    BOOL = "bool"
    TEXT = "text"
    DTYPE = "dtype"
    DEVICE = "device"
    LAYOUT = "layout"
    MEMORY_FORMAT = "memory_format"
    SHAPE = "shape"  # list-like: sizes, a port per element when split
    INTS = "ints"  # an int or several
    NUMBERS = "numbers"  # a number or several
    INDEX = "index"  # list-like: what stands between [ and ]
    TENSORS = "tensors"  # list-like: cat([a, b]), SGD([w])
    VALUES = "values"  # list-like: anything (print, tuple, list)
    MODULES = "modules"  # list-like: children of Sequential
    DATA = "data"  # a number or nested lists of numbers (torch.tensor)
    NAME = "name"  # the name of an attribute
    MODULE = "module"
    OPTIMIZER = "optimizer"
    ARRAY = "array"
    GENERATOR = "generator"  # a torch.Generator, by wire only
    OBJECT = "object"  # passed on, never written as a literal
    ANY = "any"


LIST_LIKE = frozenset({Kind.SHAPE, Kind.INDEX, Kind.TENSORS, Kind.VALUES, Kind.MODULES})
"""Kinds that may have a port per element: ``size.0``, ``size.1``, ... (semantics §2)."""


class Family(StrEnum):
    """What flows through a wire: decides the shape and colour of a port."""

    TENSOR = "tensor"
    NUMBER = "number"
    TEXT = "text"
    TUPLE = "tuple"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    ARRAY = "array"
    OBJECT = "object"
    NONE = "none"
    UNKNOWN = "unknown"


class Face(StrEnum):
    """How a node of the operator is spelled in Python. ``a, b`` are its parameters in order."""

    FUNCTION = "function"  # torch.matmul(a, b): the key is the path
    METHOD = "method"  # a.sum(b): the first parameter is the receiver
    CONSTRUCTOR = "constructor"  # nn.Linear(4, 8)
    INFIX = "infix"  # a + b: `symbol`
    PREFIX = "prefix"  # -a: `symbol`
    AUGMENTED = "augmented"  # a += b: `symbol` is "+="; binds nothing for tensors
    ATTRIBUTE = "attribute"  # a.T: `symbol` is the attribute, or the port `name`
    SET_ATTRIBUTE = "set_attribute"  # a.grad = b: `symbol` is the attribute, or the port `name`
    SET_PATH = "set_path"  # torch.backends.cudnn.benchmark = a: the key is the path, and "="
    ASSERT = "assert"  # assert a, b: a condition, and what is said when it does not hold
    ITEM = "item"  # a[index]
    SET_ITEM = "set_item"  # a[index] = b
    CALL = "call"  # a(b, c): a module called
    LITERAL = "literal"  # lr = 0.01
    ALIAS = "alias"  # b = a
    TUPLE = "tuple"  # B, T = 2, 6
    LIST = "list"  # xs = [a, b]
    FORMAT = "format"  # f"loss {a:.4f}": a template and its values
    CHOICE = "choice"  # a is not None and a.sum() > 0: one text with holes, its values
    CODE = "code"  # statements as they were typed: literal `code`, a port for each name they read
    STORED = "stored"  # a stored tensor (semantics §14): literal `digest`
    GROUP = "group"  # call of a definition (semantics §15)


class Effect(StrEnum):
    """What a statement does beside returning a value; each gives it a place in the order."""

    BACKWARD = "backward"
    IN_PLACE = "in_place"  # writes into the parameters named by Operator.writes
    GRAD = "grad"  # reads or writes .grad
    OPTIMIZER = "optimizer"  # steps one, or clears its gradients
    RANDOM = "random"
    SEED = "seed"
    PRINT = "print"
    MODULE_CALL = "module_call"
    CODE = "code"  # undrawn Python, which may do anything
    SETTING = "setting"  # changes a setting of the whole process: set_grad_enabled(), set_printoptions()
    MODE = "mode"  # train(), eval(), requires_grad_(): set-up effects


class Parameter(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One argument of an operator, and so one input port of its nodes.

    Attributes:
        default: Python text of torch's default; None when the argument must be given.
        variadic: printed as separate arguments (``torch.randn(2, 3)``), not as one list.
        nullable: None is accepted.
        choices: Python literals offered by the editor, quoted where they are text.
        hint: one line on what it takes.
        element: one element of a list-like argument (made by `families.element_parameter`).
    """

    name: str
    kind: Kind
    default: str | None = None
    keyword_only: bool = False
    positional_only: bool = False
    variadic: bool = False
    nullable: bool = False
    choices: tuple[str, ...] = ()
    hint: str = ""
    element: bool = False


class Result(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One result of an operator, and so one output port of its nodes."""

    name: str = "out"
    family: Family = Family.TENSOR


class Operator(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A row of the catalogue, named by its Python target.

    Attributes:
        key: ``torch.matmul``, ``torch.Tensor.view``, ``operator.add``, ``torch.nn.Linear``.
        title: what the library shows (``matmul``, ``+``, ``Linear``).
        symbol: the Python token of INFIX, PREFIX, AUGMENTED faces, or the attribute's name.
        results: more than one is unpacked into that many names; none binds nothing.
        varying: the number of results is not fixed (``split``): one name, a list.
        writes: names of the parameters an in-place operator writes into; `out.0`, `out.1` for the elements of one.
        fills: its results can be written into tensors that are given, ``out=z``: `out_variants.out_row` makes that row.
        view: the result shares storage with its first tensor argument.
        cuts: the result never requires grad (``detach``, ``argmax``, comparisons, ``zeros_like``), but
            by its own ``requires_grad=True``.
        creates: makes tensors without tensor input; its ``device`` port follows the document's.
        suggested: port path -> Python literal that a freshly dropped node gets, for a required
            argument where an empty field would only be in the way (``size``: ``(2, 3)``).
        target: the Python path, when it is not the key: one path may have several rows, told
            apart by what follows a colon (``torch.max`` and ``torch.max:dim``).
        calls: results of calling the module that a CONSTRUCTOR makes.
        takes: what such a call is given; none when anything may be (containers).
        rare: generated from torch alone, without a line of the hand-written selection; found by search
            and in its category, behind what is used every day.
    """

    key: str
    title: str
    face: Face
    category: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    results: tuple[Result, ...] = (Result(),)
    symbol: str = ""
    varying: bool = False
    effects: tuple[Effect, ...] = ()
    writes: tuple[str, ...] = ()
    view: bool = False
    cuts: bool = False
    creates: bool = False
    words: tuple[str, ...] = ()
    suggested: dict[str, str] = {}
    target: str = ""
    calls: tuple[Result, ...] = (Result(),)
    takes: tuple[Parameter, ...] = ()
    rare: bool = False
    fills: bool = False

    @property
    def path(self) -> str:
        """What is printed: ``torch.max`` for the rows ``torch.max`` and ``torch.max:dim``."""
        return self.target or self.key

    @property
    def word(self) -> str:
        """The last word of the path, by which a node without a name is called."""
        return self.path.rsplit(".", 1)[-1]

    @property
    def constructs(self) -> bool:
        """Whether a node of it makes an object of a class: of torch's, or of a definition that is a module."""
        is_module = self.face is Face.GROUP and bool(self.results) and self.results[0].family is Family.MODULE
        return self.face is Face.CONSTRUCTOR or is_module

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None."""
        return next((p for p in self.parameters if p.name == name), None)
