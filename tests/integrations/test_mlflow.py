"""Classifiers in MLflow: saved, logged to a server, registered and loaded, without pickle."""

import pickle
import pickletools
import sys
from pathlib import Path

import card_problems
import documentation
import mlflow_server
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import MissingLibraryError
from directrix.export import ModelFileError
from directrix.integrations.mlflow import (
    PyfuncClassifier,
    load_model,
    log_model,
    save_model,
)
from directrix.metrics import FromRates

needs_mlflow = pytest.mark.skipif(
    mlflow_server.why_not() is not None, reason=str(mlflow_server.why_not())
)
# Of MLflow, about its own code.
pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning:mlflow"),
    pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning"),
]
if mlflow_server.why_not() is None:
    mlflow = mlflow_server.imported()

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3)).round(2)
Y = X[:, 0] - X[:, 1] + RNG.normal(size=120) > 0.5
ROWS = card_problems.raw_rows(150, seed=7)
NAMED = pd.DataFrame(X, columns=["Länge", 'b "&" <c>', "年"])

#: Classifiers of every class, and the rows that they are fitted to.
CLASSIFIERS = {
    "direct": (lambda: DirectClassifier(cv=3), X),
    "moment": (lambda: MomentClassifier("auc"), NAMED),
    "scores alone": (OperatingPointClassifier, NAMED[["Länge"]]),
    "card": (card_problems.fitted_card, None),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """Let MLflow keep what it keeps without a server in a folder that is thrown away."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session")
def tracking_server(tmp_path_factory):
    with mlflow_server.server(tmp_path_factory.mktemp("mlflow")) as address:
        yield address


@pytest.fixture
def tracked(tracking_server):
    """Use the server until the test is over."""
    mlflow.set_tracking_uri(tracking_server)
    yield mlflow
    mlflow.set_tracking_uri(None)


@pytest.fixture(scope="module")
def direct():
    return DirectClassifier("auc", cv=3).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)


@pytest.fixture(scope="module")
def logged(tracking_server, direct):
    """Return a run with a scorecard, registered as loans, and a linear classifier."""
    mlflow.set_tracking_uri(tracking_server)
    with mlflow.start_run() as run:
        card = log_model(card_problems.fitted_card(), "card", registered_model_name="loans")
        line = log_model(direct, "line", tags={"team": "risk"}, params={"source": "tests"})
    mlflow.set_tracking_uri(None)
    return run.info.run_id, card, line


# ── every classifier, in a folder ─────────────────────────────────────────────────────────────────


@needs_mlflow
@pytest.mark.every_case
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_is_saved_and_loaded_as_both_flavors(name, tmp_path):
    make, rows = CLASSIFIERS[name]
    classifier, path = make(), tmp_path / "model"
    if rows is None:  # it is fitted, to raw rows
        rows = ROWS
    else:
        classifier.fit(rows, Y)
    save_model(classifier, path)
    native, pyfunc = load_model(path), mlflow.pyfunc.load_model(str(path))
    assert type(native) is type(classifier)
    assert native.predict(rows).tolist() == classifier.predict(rows).tolist()
    assert pyfunc.predict(rows).tolist() == classifier.predict(rows).tolist()
    for method in ("predict_proba", "decision_function"):
        expected = getattr(classifier, method)(rows).tolist()
        assert getattr(native, method)(rows).tolist() == expected
        answered = pyfunc.predict(rows, params={"method": method})  # a frame, or an array
        assert np.asarray(answered).tolist() == expected
    check_no_pickle(path)


def check_no_pickle(folder):
    """Check that no file is a pickle, by name or content, nor an archive that may hold one."""
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    assert {"MLmodel", "model.directrix"} <= {path.name for path in files}
    assert [path.name for path in files if path.suffix in {".pkl", ".pickle", ".joblib"}] == []
    assert [path.name for path in files if is_pickle(path.read_bytes())] == []
    assert [path.name for path in files if path.read_bytes()[:2] == b"PK"] == []


def is_pickle(content):
    """Return whether all bytes are operations of pickle.

    A first byte 0x80 is not enough: it may be the length of the header of a model file.
    """
    try:
        operations = list(pickletools.genops(content))
    except ValueError:
        return False
    return len(operations) > 1


def test_a_pickle_would_be_found():
    assert all(is_pickle(pickle.dumps({"a": X}, protocol)) for protocol in range(6))
    assert not is_pickle(b"\x80\x04\x00\x00\x00\x00\x00\x00{}")


@needs_mlflow
def test_a_model_has_its_requirements_report_card_and_example(tmp_path):
    card = card_problems.fitted_card()
    save_model(card, tmp_path / "model", extra_pip_requirements=["polars"])
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"report.txt", "report.html", "card.html", "input_example.json"} <= names
    requirements = (tmp_path / "model" / "requirements.txt").read_text(encoding="utf-8").split()
    assert f"numpy=={np.__version__}" in requirements
    assert "polars" in requirements
    assert any(line.startswith("directrix==") for line in requirements)
    report = (tmp_path / "model" / "report.txt").read_text(encoding="utf-8")
    assert str(card.report_) in report
    assert str(card.operating_point_) in report
    assert card.card_.to_html() in (tmp_path / "model" / "card.html").read_bytes().decode()


@needs_mlflow
def test_requirements_signature_and_example_can_be_given(direct, tmp_path):
    frame = pd.DataFrame(X[:2], columns=["a", "b", "c"])
    signature = mlflow.models.infer_signature(frame, Y[:2])
    save_model(
        direct,
        tmp_path / "given",
        pip_requirements=["directrix"],
        signature=signature,
        input_example=frame,
        metadata={"owner": "risk"},
    )
    model = mlflow.models.Model.load(str(tmp_path / "given"))
    assert model.signature == signature
    assert model.metadata == {"owner": "risk"}
    pd.testing.assert_frame_equal(model.load_input_example(str(tmp_path / "given")), frame)
    requirements = (tmp_path / "given" / "requirements.txt").read_text(encoding="utf-8").split()
    assert [line for line in requirements if not line.startswith("mlflow")] == ["directrix"]
    save_model(direct, tmp_path / "without", signature=False)
    assert mlflow.models.Model.load(str(tmp_path / "without")).signature is None


@needs_mlflow
def test_rows_as_json_are_scored_as_by_mlflow_models_predict(tmp_path):
    card = card_problems.fitted_card()
    save_model(card, tmp_path / "model", input_example=ROWS.head(3))
    mlflow.models.predict(
        str(tmp_path / "model"),
        input_data=ROWS.head(20),
        output_path=str(tmp_path / "answer.json"),
        env_manager="local",
    )
    answer = pd.read_json(tmp_path / "answer.json")["predictions"].tolist()
    assert answer == card.predict(ROWS.head(20)).tolist()


# ── on a server ───────────────────────────────────────────────────────────────────────────────────


@needs_mlflow
def test_a_card_is_loaded_by_run_model_version_and_alias(logged, tracked):
    run_id, card, _ = logged
    classifier = card_problems.fitted_card()
    tracked.MlflowClient().set_registered_model_alias("loans", "champion", 1)
    assert int(card.registered_model_version) == 1
    for uri in (
        card.model_uri,
        f"runs:/{run_id}/card",
        "models:/loans/1",
        "models:/loans@champion",
    ):
        native, pyfunc = load_model(uri), tracked.pyfunc.load_model(uri)
        assert native.predict_proba(ROWS).tolist() == classifier.predict_proba(ROWS).tolist()
        assert pyfunc.predict(ROWS).tolist() == classifier.predict(ROWS).tolist()
        points = pyfunc.predict(ROWS, params={"method": "predict_points"})
        assert points.tolist() == classifier.predict_points(ROWS).tolist()
    assert len(set(classifier.predict(ROWS))) == 2


@needs_mlflow
def test_the_server_stores_no_pickle(logged, tracked, tmp_path):
    for number, info in enumerate(logged[1:]):
        uri = info.model_uri
        check_no_pickle(
            tracked.artifacts.download_artifacts(
                artifact_uri=uri, dst_path=str(tmp_path / str(number))
            )
        )


@needs_mlflow
def test_a_run_has_metrics_with_intervals_and_documents(logged, tracked, direct):
    run_id, card, line = logged
    metrics = tracked.get_run(run_id).data.metrics
    # Both models have these names, and a run shows the last; each model has its own.
    gap, expected = direct.report_.gap, direct.operating_point_
    assert metrics["gap_to_logistic_regression"] == pytest.approx(gap.mean)
    assert metrics["expected_tpr"] == pytest.approx(expected.expected.tpr)
    assert metrics["expected_metric_low"] == pytest.approx(expected.intervals.metric[0])
    of_model = {
        metric.key: metric.value for metric in tracked.get_logged_model(card.model_id).metrics
    }
    point = card_problems.fitted_card().operating_point_
    assert of_model["expected_tpr_high"] == pytest.approx(point.intervals.tpr[1])
    client = tracked.MlflowClient()
    paths = [
        file.path
        for folder in ("reports", "cards")
        for file in client.list_artifacts(run_id, folder)
    ]
    assert sorted(paths) == [
        *("cards/card.html", "reports/card.html", "reports/card.txt"),
        *("reports/line.html", "reports/line.txt"),
    ]
    text = tracked.artifacts.load_text(f"runs:/{run_id}/reports/line.txt")
    assert str(direct.report_) in text
    logged_line = tracked.get_logged_model(line.model_id)
    assert logged_line.params["metric"] == "auc"
    assert logged_line.params["source"] == "tests"
    assert logged_line.tags["team"] == "risk"


@needs_mlflow
def test_metrics_go_to_the_run_that_is_given(direct, tracked):
    run = tracked.MlflowClient().create_run("0")
    assert tracked.active_run() is None
    log_model(direct, "line", run_id=run.info.run_id, step=3)
    metrics = tracked.MlflowClient().get_metric_history(run.info.run_id, "threshold")
    assert [(metric.step, metric.value) for metric in metrics] == [
        (3, pytest.approx(direct.operating_point_.threshold))
    ]


@needs_mlflow
def test_without_a_run_a_model_is_logged_and_no_run_begins(direct, tracked):
    before = len(tracked.search_runs(search_all_experiments=True))
    info = log_model(direct, "line")
    assert tracked.active_run() is None
    assert len(tracked.search_runs(search_all_experiments=True)) == before
    rows = pd.DataFrame(X, columns=["a", "b", "c"])
    assert load_model(info.model_uri).predict(rows).tolist() == direct.predict(rows).tolist()


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@needs_mlflow
def test_a_damaged_model_is_refused_by_both_flavors(tmp_path):
    path = tmp_path / "model"
    save_model(card_problems.fitted_card(), path)
    file = path / "data" / "model.directrix"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    for read in (load_model, mlflow.pyfunc.load_model):
        with pytest.raises(ModelFileError, match="damaged"):
            read(str(path))
    file.unlink()
    for read in (load_model, mlflow.pyfunc.load_model):
        with pytest.raises(ModelFileError, match="missing"):
            read(str(path))


@needs_mlflow
def test_a_model_of_another_flavor_is_refused(tmp_path):
    model = mlflow.models.Model()
    model.add_flavor("sklearn", pickled_model="model.pkl")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    model.save(str(tmp_path / "MLmodel"))
    with pytest.raises(ModelFileError, match="flavors sklearn, and not directrix"):
        load_model(tmp_path)


@needs_mlflow
def test_a_metric_that_is_code_is_refused_and_nothing_is_written(tmp_path):
    metric = FromRates(lambda tpr, fpr, prior: prior * tpr - fpr)
    classifier = MomentClassifier(metric).fit(X, Y)
    with pytest.raises(TypeError, match="whose code a model file does not hold"):
        save_model(classifier, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("store", [save_model, log_model])
def test_other_estimators_are_refused_with_a_remedy(store, tmp_path):
    target = str(tmp_path / "model")
    pipeline = make_pipeline(StandardScaler(), MomentClassifier()).fit(X, Y)
    with pytest.raises(TypeError, match="not Pipeline: give the last step"):
        store(pipeline, target)
    with pytest.raises(TypeError, match="not LogisticRegression: log other estimators"):
        store(LogisticRegression().fit(X, Y), target)
    assert list(tmp_path.iterdir()) == []


@needs_mlflow
def test_a_classifier_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(NotFittedError, match="ScorecardClassifier"):
        save_model(ScorecardClassifier(), tmp_path / "model")


def test_a_method_that_the_classifier_lacks_is_refused():
    model = PyfuncClassifier(MomentClassifier("auc").fit(X, Y))
    with pytest.raises(ValueError, match="'decision_function'; 'predict_points'"):
        model.predict(X, params={"method": "predict_points"})
    with pytest.raises(ValueError, match="'fit'"):
        model.predict(X, params={"method": "fit"})
    assert model.predict(X, params={}).tolist() == model.get_raw_model().predict(X).tolist()


def test_without_mlflow_an_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'directrix\[mlflow\]'"):
        save_model(MomentClassifier("auc").fit(X, Y), tmp_path / "model")


# ── the page of the documentation ─────────────────────────────────────────────────────────────────


@needs_mlflow
@pytest.mark.usefixtures("tracked")
def test_the_page_prints_what_it_says(monkeypatch):
    names, pairs = {}, documentation.blocks("mlflow.md")
    for code, output in pairs:
        documentation.run(code, output, names, monkeypatch)
    assert sum(bool(output) for _, output in pairs) == 8
