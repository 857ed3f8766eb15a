"""What we keep of the data: class-wise weight, mean and scatter, as an algebra."""

from directrix.exceptions import CancellationError, MomentsFileError
from directrix.moments._row_scatter import RowScatter
from directrix.moments.class_moments import ClassMoments
from directrix.moments.moments import Moments, Standardized

__all__ = [
    "CancellationError",
    "ClassMoments",
    "Moments",
    "MomentsFileError",
    "RowScatter",
    "Standardized",
]
