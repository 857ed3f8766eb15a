"""The study of one likelihood against many candidates: what its gate says."""

import pytest

from benchmarks.studies.cards import one_card
from benchmarks.studies.cards.methods import GROWN, TREES
from benchmarks.studies.cards.one_card import LANDED, NUMBERS


def row(method, name, **values):
    figures = {"AUC": 0.8, "recall at FPR 5 %": 0.3, "log loss": 0.4, "lines": 40, "cpu": 1.0}
    texts = {key: str(value) for key, value in (figures | values).items()}
    return {"fold": "0", "set": name, "method": method, **texts}


@pytest.mark.parametrize(("change", "kept"), [(-0.0005, True), (-0.0015, False)])
def test_the_gate_compares_folds_that_all_methods_have(change, kept):
    names = NUMBERS[:2]
    rows = [row(method, name, cpu=4.0) for name in names for method in (LANDED, *TREES)]
    rows += [row(GROWN, name, AUC=0.8 + change) for name in names]
    rows.append(row(GROWN, NUMBERS[2], AUC=0.1))  # the others are not measured yet
    text = "\n".join(one_card.lines(rows))
    assert ("**not kept**" not in text) == kept
    assert f"{change:+.4f} (-0.001)" in text
    assert "0.25 (0.4)" in text  # the ratio of CPU times
