"""torch's usual errors: pattern, explanation, fixes, example; the first rule that matches explains."""

from gradstudio.advice.model import Rule
from gradstudio.advice.rules.call_errors import CALLS
from gradstudio.advice.rules.dimension_errors import DIMS
from gradstudio.advice.rules.general_errors import GENERAL
from gradstudio.advice.rules.gradient_errors import GRADIENTS
from gradstudio.advice.rules.layer_errors import LAYERS
from gradstudio.advice.rules.process_errors import PROCESSES
from gradstudio.advice.rules.python_errors import PYTHON
from gradstudio.advice.rules.shape_errors import SHAPES
from gradstudio.advice.rules.too_large_errors import TOO_LARGE
from gradstudio.advice.rules.type_errors import TYPES
from gradstudio.advice.rules.value_errors import VALUES

RULES: tuple[Rule, ...] = (
    *TOO_LARGE,
    *PROCESSES,
    *PYTHON,
    *SHAPES,
    *GRADIENTS,
    *TYPES,
    *LAYERS,
    *DIMS,
    *VALUES,
    *CALLS,
    *GENERAL,
)
