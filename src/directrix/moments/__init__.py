"""What we keep of the data: class-wise weight, mean and scatter, as an algebra."""

from directrix.moments.class_moments import CancellationError, ClassMoments
from directrix.moments.moments import Moments, Standardized
from directrix.moments.row_scatter import RowScatter
from directrix.moments.storage_checks import MomentsFileError

__all__ = [
    "CancellationError",
    "ClassMoments",
    "Moments",
    "MomentsFileError",
    "RowScatter",
    "Standardized",
]
