"""LibAUC: a linear model on the CPU, its min-max loss for AUC by its own optimiser."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from benchmarks.rivals.base import Grid
from directrix._typing import AnyArray, FloatArray

_EPOCHS, _BATCH, _FEWEST_STEPS = 5, 128, 300


class _Line:
    """AUCMLoss with PESG, balanced batches, as in the library's tutorials."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def fit(self, X: FloatArray, y: AnyArray) -> Self:
        import torch  # noqa: PLC0415 - optional
        from libauc.losses import AUCMLoss  # noqa: PLC0415 - optional
        from libauc.optimizers import PESG  # noqa: PLC0415 - optional

        torch.manual_seed(0)
        torch.set_num_threads(1)
        rng = np.random.default_rng(0)
        line = torch.nn.Linear(X.shape[1], 1)
        loss = AUCMLoss(device="cpu")
        steps = PESG(line.parameters(), loss_fn=loss, lr=self.rate, margin=1.0, device="cpu")
        rows = torch.tensor(X, dtype=torch.float32)
        classes = np.flatnonzero(y), np.flatnonzero(~y)
        for _ in range(max(_FEWEST_STEPS, _EPOCHS * len(y) // _BATCH)):
            batch = np.concatenate(
                [rng.choice(rows_of_class, _BATCH // 2) for rows_of_class in classes]
            )
            given = torch.tensor(y[batch].astype(np.float32))[:, None]
            value = loss(torch.sigmoid(line(rows[batch])), given)
            steps.zero_grad()
            value.backward()
            steps.step()
        self.line = line.weight.detach().numpy()[0].astype(np.float64)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.line)


# A ranking has no threshold of its own, so that of the error is moved too.
auc = Grid(_Line, (0.1,), needs="libauc", moves_all=True)
