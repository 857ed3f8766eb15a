import numpy as np
import pytest

from directrix.classifiers.kernels import Kernel, kernel_facts, restored_kernel
from directrix.classifiers.state import ModelMetadata


def test_a_kernel_is_facts_and_comes_back_from_them():
    assert kernel_facts(None) is restored_kernel(None) is None
    assert kernel_facts(Kernel("rbf")) == ModelMetadata(name="rbf", params=ModelMetadata())
    kernel = Kernel("polynomial", {"degree": 2, "coef0": 0.5})
    assert restored_kernel(kernel_facts(kernel)) == kernel


@pytest.mark.parametrize("kernel", [Kernel(np.dot), Kernel("rbf", {"n_jobs": 1})])
def test_a_kernel_that_is_code_or_has_other_parameters_is_no_fact(kernel):
    with pytest.raises(TypeError, match="the kernel must be one of"):
        kernel_facts(kernel)
