"""The shapes of vectors, for the type checker; numpy stays unloaded for commands that need no vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape (n, dimensions), rows of unit length."""

    Vector = NDArray[np.float32]
    """Shape (dimensions,), unit length."""
else:  # numpy stays unloaded for commands that need no vectors
    Vectors = Vector = object
