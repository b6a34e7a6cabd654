"""Why a picture is not made.

GradStudioError
└── PictureRefused    what was asked for is not there, or cannot be written; says what there is instead
"""

from gradstudio.errors import GradStudioError


class PictureRefused(GradStudioError):
    """A picture that cannot be made as it was asked for."""
