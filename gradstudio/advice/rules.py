"""torch's usual errors: pattern, explanation, fixes, example; the first rule that matches explains."""

from gradstudio.advice.model import Rule
from gradstudio.advice.rules_calls import CALLS
from gradstudio.advice.rules_dims import DIMS
from gradstudio.advice.rules_general import GENERAL
from gradstudio.advice.rules_gradients import GRADIENTS
from gradstudio.advice.rules_layers import LAYERS
from gradstudio.advice.rules_shapes import SHAPES
from gradstudio.advice.rules_sizes import SIZES
from gradstudio.advice.rules_types import TYPES
from gradstudio.advice.rules_values import VALUES

RULES: tuple[Rule, ...] = (*SIZES, *SHAPES, *GRADIENTS, *TYPES, *LAYERS, *DIMS, *VALUES, *CALLS, *GENERAL)
