"""The service of docs/export.md, over HTTP: it answers as the classifier, without directrix."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from importlib.util import find_spec

import card_problems
import documentation
import numpy as np
import pandas as pd
import pytest

from directrix.export import to_python

MISSING = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{''.join(MISSING[:1])} is not installed")

PATIENCE = 120.0  # seconds; a busy machine starts a server in ten
WRITE, APP, ASK, SAME, LINEAR = documentation.blocks("export.md", "Serve a model with FastAPI")
#: JSON has no infinite numbers.
ROWS = card_problems.raw_rows(300, seed=4).replace([np.inf, -np.inf], 1e300)


@contextmanager
def service(folder):
    """Start the application of the page beside a module, and give the address of its service."""
    (folder / "app.py").write_text(APP[0], encoding="utf-8")
    # The first directrix that an import finds, if there is an import.
    (folder / "directrix.py").write_text("raise SystemExit('not here')\n", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE
        while not is_up(address):
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            assert time.monotonic() < until, "the service did not start"
            time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait(PATIENCE)


def is_up(address):
    try:
        with urllib.request.urlopen(f"{address}/openapi.json", timeout=5):  # noqa: S310 - ours
            return True
    except (urllib.error.URLError, OSError):
        return False


def ask(address, rows):
    """Return the status and the answer of the service."""
    request = urllib.request.Request(  # noqa: S310 - ours
        f"{address}/score",
        data=rows if isinstance(rows, bytes) else json.dumps(rows).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:  # noqa: S310 - ours
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def as_json(frame):
    """Return rows as plain values: null for missing ones, ISO 8601 for times.

    A constant column has no points, and the module does not know it.
    """
    return [
        {
            name: None if pd.isna(value) else value.isoformat() if name == DAY else value
            for name, value in row.items()
        }
        for row in frame.drop(columns="constant").to_dict("records")
    ]


NUMBER, TEXT, FLAG, DAY = card_problems.NAMES.values()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return a scorecard and the address of the service that has its module."""
    classifier = card_problems.with_random_points(card_problems.fitted_card(), 3, whole=True)
    folder = tmp_path_factory.mktemp("service")
    (folder / "scorecard.py").write_text(to_python(classifier), encoding="utf-8")
    with service(folder) as address:
        yield classifier, address


def test_answers_are_those_of_the_classifier(served):
    classifier, address = served
    status, answers = ask(address, as_json(ROWS))
    assert status == 200
    assert [answer["label"] for answer in answers] == classifier.predict(ROWS).tolist()
    assert [answer["points"] for answer in answers] == classifier.predict_points(ROWS).tolist()
    expected = classifier.predict_proba(ROWS)
    names = [str(label) for label in classifier.classes_]
    given = np.array([[answer["probabilities"][name] for name in names] for answer in answers])
    # Exponentials of the standard library and of NumPy differ in the last digit.
    np.testing.assert_allclose(given, expected, rtol=0, atol=1e-12)
    assert len(set(classifier.predict(ROWS))) == len(classifier.classes_)
    assert ROWS[TEXT].isin(card_problems.NEW_TEXTS).any()
    assert ROWS.isna().any().sum() == 4


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({NUMBER: "12"}, NUMBER),
        ({TEXT: 7}, TEXT),
        ({FLAG: "perhaps"}, FLAG),
        ({DAY: "the first of May"}, DAY),
        ({"another": 1.0}, "another"),
    ],
)
def test_a_value_of_another_kind_or_another_column_is_refused(served, change, culprit):
    row = as_json(ROWS.head(1))[0]
    status, answer = ask(served[1], [row | change])
    assert status == 422
    assert [error["loc"][-1] for error in answer["detail"]] == [culprit]


def test_a_column_must_be_there_even_if_it_has_no_value(served):
    row = as_json(ROWS.head(1))[0]
    assert ask(served[1], [row | {TEXT: None}])[0] == 200
    del row[TEXT]
    status, answer = ask(served[1], [row])
    assert status == 422
    assert answer["detail"][0]["type"] == "missing"


@pytest.mark.parametrize("payload", [{}, "rows", [1.0], [[1.0, "a"]], b"not JSON"])
def test_what_is_not_a_list_of_rows_is_refused(served, payload):
    assert ask(served[1], payload)[0] == 422


def test_no_rows_have_no_answers(served):
    assert ask(served[1], []) == (200, [])


def test_the_page_prints_what_it_says(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = {}
    documentation.run(*WRITE, names, monkeypatch)
    with service(tmp_path) as address:
        code = re.sub(r"http://[\w.:]+", address, ASK[0])
        documentation.run(code, ASK[1], names, monkeypatch)
    documentation.run(*SAME, names, monkeypatch)


def test_fields_of_a_linear_classifier_are_those_of_the_page():
    from pydantic import Field, StrictFloat, ValidationError, create_model

    class scorecard:  # noqa: N801 - as the page calls the module
        FEATURES = ("mean radius", "from")

    names = {"Field": Field, "StrictFloat": StrictFloat, "scorecard": scorecard}
    exec(LINEAR[0], names)  # noqa: S102 - our own page
    row = create_model("Row", **names["fields"])
    given = {"mean radius": 2, "from": 0.5}
    assert row.model_validate(given).model_dump(by_alias=True) == given
    with pytest.raises(ValidationError):
        row.model_validate({"mean radius": None, "from": 0.5})
