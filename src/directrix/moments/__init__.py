"""What we keep of the data: class-wise weight, mean and scatter, as an algebra."""

from directrix.moments._row_scatter import RowScatter
from directrix.moments._storage_checks import MomentsFileError
from directrix.moments.class_moments import CancellationError, ClassMoments
from directrix.moments.moments import Moments, Standardized

__all__ = [
    "CancellationError",
    "ClassMoments",
    "Moments",
    "MomentsFileError",
    "RowScatter",
    "Standardized",
]
