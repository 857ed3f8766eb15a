"""MLflow flavor: save, log and load fitted classifiers as model files, without pickle.

A saved model is a folder that MLflow understands. It holds the model file of
`directrix.export.save`, which contains numbers and text and no code, and the report of the fit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape
from importlib.metadata import version
from math import isfinite
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix.estimators.base import LinearClassifier
from directrix.estimators.state import model_params
from directrix.exceptions import MissingLibraryError
from directrix.exceptions.files import ModelFileError
from directrix.export import load, save
from directrix.fit.operating_point import Rates
from directrix.rows.classes import output_names
from directrix.tables import LevelBins

# ── Signatures of MLflow models: columns and types of a classifier, and a typical row ─────────────

#: Methods that a model can be asked for; the first is the default.
METHODS = ("predict", "predict_proba", "decision_function", "predict_points")

_SECONDS = 86_400  # of a day
_LABEL_TYPES = {"b": "boolean", "i": "long", "u": "long", "f": "double"}
_TYPES = {"boolean": "boolean", "text": "string", "date": "datetime"}


def infer_signature(classifier: Any, example: Any = None) -> Any:
    """Return the signature of a classifier: its columns, labels, and the parameter ``method``.

    MLflow checks types before a classifier sees the rows, and is stricter: it refuses int64 for
    ``double``, NaN for ``long``, and categories for ``string``. A column that it would refuse has
    the type ``Any``, which is not checked: numbers of scorecards (with missing values, integers
    are floats), other numbers unless the example has floats, and every column of the example that
    does not pass as the type of its kind.
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

    label_type = _LABEL_TYPES.get(classifier.classes_.dtype.kind, "string")
    return ModelSignature(
        inputs=_input_schema(classifier, example),
        outputs=Schema([ColSpec(DataType[label_type])]),
        params=ParamSchema([ParamSpec("method", DataType.string, default=METHODS[0])]),
    )


def _input_schema(classifier: Any, example: Any) -> Any:
    from mlflow.types import ColSpec, Schema, TensorSpec

    names = getattr(classifier, "feature_names_in_", None)
    binner = getattr(classifier, "binner_", None)
    n_columns = getattr(classifier, "n_features_in_", 1)  # one score, without an estimator
    if names is None and binner is None:
        return Schema([TensorSpec(np.dtype(np.float64), (-1, n_columns))])
    kinds = ["float"] * n_columns if binner is None else [bins.kind for bins in binner.bins_]
    columns = []
    for k, kind in enumerate(kinds):
        column = _column(example, k if names is None else names[k])
        name = None if names is None else str(names[k])
        columns.append(ColSpec(_column_type(kind, column), name))
    return Schema(columns)


def _column(example: Any, name: Any) -> Any:
    """Return a column of an example, None if it is not a data frame with this column."""
    rows = example[0] if isinstance(example, tuple) else example  # with parameters
    return rows[[name]] if hasattr(rows, "iloc") and name in rows else None


def _column_type(kind: str, column: Any) -> Any:
    """Return the type of a column: that of its kind, if MLflow takes such a column for it.

    Features of linear classifiers are of the kind "float". The column is a data frame, or None.
    """
    from mlflow.exceptions import MlflowException
    from mlflow.models import validate_schema
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import AnyType

    if kind == "number" or (kind == "float" and column is None):
        return AnyType()
    expected = DataType[_TYPES.get(kind, "double")]
    if column is not None:
        schema = Schema([ColSpec(expected, column.columns[0])])
        rows = column.reset_index(drop=True)
        try:
            validate_schema(rows, schema)
            validate_schema(rows.reindex(range(len(rows) + 1)), schema)  # with a missing value
        except (MlflowException, ValueError):
            return AnyType()
    return expected


def typical_row(classifier: Any) -> Any:
    """Return a data frame with one row, the most frequent bin of each column of a scorecard.

    None unless the classifier is a scorecard: other models do not store values of features.
    """
    import pandas as pd

    binner = getattr(classifier, "binner_", None)
    if binner is None:
        return None
    names = getattr(classifier, "feature_names_in_", range(classifier.n_features_in_))
    values = (_typical_value(bins) for bins in binner.bins_)
    return pd.DataFrame({name: [value] for name, value in zip(names, values, strict=True)})


def _typical_value(bins: Any) -> Any:
    weights = np.array(bins.weights)
    if isinstance(bins, LevelBins):
        cells = list(bins.level_cells)
        return bins.levels[int(np.argmax(weights[cells]))] if cells else ""
    index = int(np.argmax(weights[1 : 1 + bins.n_ordered]))
    cuts = (-np.inf, *bins.cuts, np.inf)
    # Means of the outer bins leave out values far out, and may be outside of them.
    inside = np.nextafter(cuts[index], np.inf), cuts[index + 1]
    value = float(np.clip(bins.means[index], *inside))
    if bins.kind == "boolean":
        return value > 0.5
    return np.datetime64(round(value * _SECONDS), "s") if bins.kind == "date" else value


# ── What MLflow records of a fit: parameters, metrics with intervals, and documents ───────────────

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }}
table {{ border-collapse: collapse; margin: .7rem 0; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .6rem; border-bottom: 1px solid #d8dee4; text-align: left; }}
</style></head><body>{body}</body></html>
"""


def fit_params(classifier: Any) -> dict[str, str]:
    """Return the class and the parameters of a classifier as text."""
    texts = {name: str(value) for name, value in model_params(classifier).items()}
    return {"classifier": type(classifier).__name__} | texts


def fit_metrics(classifier: Any) -> dict[str, float]:
    """Return what to expect on new rows, and how much better that is than logistic regression.

    Expected rates are those of the operating point, with the ends of their 95 % intervals. Numbers
    that are not known are left out.
    """
    point = getattr(classifier, "operating_point_", None)
    report = getattr(classifier, "report_", None)
    metrics = {} if point is None else dict(_of_point(point))
    metrics |= {} if report is None else dict(_of_report(report))
    return {name: float(value) for name, value in metrics.items() if isfinite(value)}


def _of_point(point: Any) -> Iterator[tuple[str, float]]:
    yield "threshold", point.threshold
    if point.expected is None:
        return
    for name in Rates._fields:
        yield f"expected_{name}", getattr(point.expected, name)
        if point.intervals is not None:
            low, high = getattr(point.intervals, name)
            yield f"expected_{name}_low", low
            yield f"expected_{name}_high", high


def _of_report(report: Any) -> Iterator[tuple[str, float]]:
    without_bins = report.unbinned_baseline
    gap = report.gap if without_bins is None else without_bins
    if gap is not None:
        yield "gap_to_logistic_regression", gap.mean
        yield "gap_to_logistic_regression_low", gap.low
        yield "gap_to_logistic_regression_high", gap.high


def fit_documents(classifier: Any) -> dict[str, str]:
    """Return the report and the card of a classifier as texts, by the name of their file.

    They are ``report.txt`` and ``report.html`` unless there is nothing to report, and for
    scorecards ``card.html``. A classifier that was loaded from a file has no report; its operating
    point stands for it.
    """
    name = type(classifier).__name__
    point = getattr(classifier, "operating_point_", None)
    report = getattr(classifier, "report_", None)
    card = getattr(classifier, "card_", None)
    documents, texts, pieces = {}, [], []
    if report is not None:
        texts.append(str(report))
        pieces.append(report._repr_html_())
    if point is not None:
        texts.append(str(point))
        pieces.append(f"<pre>{escape(str(point))}</pre>")
    if texts:
        documents["report.txt"] = "\n\n".join(texts) + "\n"
        documents["report.html"] = _page(name, pieces)
    if card is not None:
        documents["card.html"] = _page(name, [card.to_html()])
    return documents


def _page(title: str, pieces: list[str]) -> str:
    heading = f"<h1>{escape(title)}</h1>"
    return _PAGE.format(title=escape(title), body=heading + "".join(pieces))


# ── MLflow flavor: save, log and load fitted classifiers as model files, without pickle ───────────

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "directrix"
_FILE = "model.directrix"
_FOLDER = "data"  # where MLflow puts the file
#: What a model needs where it is loaded; MLflow adds itself.
_REQUIRED = ("directrix", "numpy", "pandas", "safetensors", "scikit-learn", "scipy")


def save_model(
    classifier: Any,
    path: str | PathLike[str],
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Save a fitted classifier as an MLflow model in a folder.

    ``path`` is a folder that does not exist or is empty. ``mlflow_model`` is the MLflow metadata to
    add the flavors to; `log_model` passes it. ``signature`` has by default the columns of the
    classifier, with types that fit the input example; False saves no signature. ``input_example``
    is a few rows, which are stored as text: give none that must not be read by others. By default a
    scorecard stores a row of its most frequent bins, and other classifiers store no example.

    ``pip_requirements`` are by default directrix and its dependencies in the installed versions;
    ``extra_pip_requirements`` are added to the default ones. ``metadata`` are entries for the file
    ``MLmodel``.

    Raises
    ------
    TypeError
        If it is another estimator, or a parameter is code, such as a metric of your own.

    Examples
    --------
    ::

        save_model(classifier, "card", input_example=table.head())
        classifier = load_model("card")
        mlflow.pyfunc.load_model("card").predict(table)
    """
    _check_classifier(classifier)
    mlflow = _mlflow()
    model = mlflow.models.Model() if mlflow_model is None else mlflow_model
    example = typical_row(classifier) if input_example is None else input_example
    if signature is None:
        signature = infer_signature(classifier, example)
    if signature is not False:
        model.signature = signature
    model.add_flavor(
        FLAVOR,
        directrix_version=version("directrix"),
        model_class=type(classifier).__name__,
        data=f"{_FOLDER}/{_FILE}",
    )
    if pip_requirements is None:
        installed = [f"{name}=={version(name)}" for name in _REQUIRED]
        pip_requirements = [*installed, *_lines(extra_pip_requirements)]
        extra_pip_requirements = None
    with TemporaryDirectory() as folder:
        file = Path(folder) / _FILE
        save(classifier, file)
        mlflow.pyfunc.save_model(
            str(path),
            loader_module=__name__,
            data_path=str(file),
            mlflow_model=model,
            # MLflow checks an example by the signature, and warns if there is none to check.
            signature=signature or None if example is not None else None,
            input_example=example,
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            metadata=metadata,
        )
    for name, text in fit_documents(classifier).items():
        (Path(path) / name).write_bytes(text.encode())


def log_model(
    classifier: Any,
    name: str,
    *,
    registered_model_name: str | None = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    metadata: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Log a fitted classifier to the tracking server of MLflow.

    Parameters of the classifier are logged with the model. If a run is active, or ``run_id`` is
    given, the run gets as metrics the expected rates of the operating point with the ends of their
    intervals and the gap to logistic regression, and as artifacts the report of the fit
    (``reports/<name>.txt`` and ``.html``) and the printed card (``cards/<name>.html``).

    Parameters
    ----------
    name : str
        Name of the model.
    registered_model_name : str, optional
        Register the model as a new version under this name.
    signature, input_example, pip_requirements, extra_pip_requirements, metadata
        As in `save_model`.
    **options
        Other arguments of ``mlflow.models.Model.log``, such as ``run_id``, ``tags``, ``step``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        ``model_uri`` is what `load_model` takes.

    Raises
    ------
    TypeError
        If it is another estimator, or a parameter is code, such as a metric of your own.

    Examples
    --------
    ::

        with mlflow.start_run():
            info = log_model(classifier, "card", registered_model_name="credit")
        classifier = load_model(info.model_uri)
    """
    _check_classifier(classifier)
    mlflow = _mlflow()
    info = mlflow.models.Model.log(
        artifact_path=None,  # its former name
        name=name,
        flavor=sys.modules[__name__],
        classifier=classifier,
        registered_model_name=registered_model_name,
        signature=signature,
        input_example=input_example,
        pip_requirements=pip_requirements,
        extra_pip_requirements=extra_pip_requirements,
        metadata=metadata,
        params=fit_params(classifier) | (options.pop("params", None) or {}),
        **options,
    )
    run = mlflow.active_run()
    run_id = options.get("run_id") or (None if run is None else run.info.run_id)
    if run_id is not None:
        _log_fit(classifier, name, run_id, info.model_id, options.get("step"))
    return info


def load_model(model_uri: str | PathLike[str], dst_path: str | None = None) -> Any:
    """Load the classifier of a saved or logged model; its scores are equal to the last bit.

    ``model_uri`` is a folder, or a URI such as ``models:/credit@champion``, ``models:/credit/3`` or
    ``runs:/<run id>/<name>``. ``dst_path`` is an existing folder for the downloaded files; by
    default they go to a temporary one.

    Returns
    -------
    classifier of directrix, fitted
        Without its report, which is in the files ``report.txt`` and ``report.html`` of the model.

    Raises
    ------
    ModelFileError
        If the model is damaged, or is of another flavor.
    """
    mlflow = _mlflow()
    downloaded = mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path)
    folder = Path(downloaded)
    flavors = mlflow.models.Model.load(str(folder)).flavors
    if FLAVOR not in flavors:
        msg = (
            f"it has the flavors {', '.join(sorted(flavors))}, and not {FLAVOR}: load it by the "
            "module of MLflow that saved it"
        )
        raise ModelFileError(msg, str(model_uri))
    return _load(folder / _FOLDER / _FILE)


class PyfuncClassifier:
    """A fitted classifier as ``mlflow.pyfunc`` calls it."""

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier

    def get_raw_model(self) -> Any:
        """Return the classifier."""
        return self._classifier

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the class of each row, or what another method gives.

        ``params={"method": "predict_proba"}`` gives the probabilities of all classes, as a data
        frame whose columns are called after the classes, such as ``probability_bad``; other methods
        are "predict", "decision_function" and, of scorecards, "predict_points".
        """
        method = (params or {}).get("method", METHODS[0])
        known = [name for name in METHODS if hasattr(self._classifier, name)]
        if method not in known:
            names = ", ".join(map(repr, known))
            msg = f"method of {type(self._classifier).__name__} must be one of {names}; {method!r}"
            raise ValueError(msg)
        made = getattr(self._classifier, method)(model_input)
        if method != "predict_proba":
            return made
        import pandas as pd

        columns = output_names("probability", self._classifier.classes_.tolist())
        return pd.DataFrame(made, columns=list(columns))


def _load_pyfunc(path: str) -> PyfuncClassifier:
    """Load a model for ``mlflow.pyfunc``, which calls this function by its name."""
    return PyfuncClassifier(_load(Path(path)))


def _load(file: Path) -> Any:
    if not file.is_file():
        msg = "it is missing: the model was not saved completely, so save it once more"
        raise ModelFileError(msg, str(file))
    return load(file)


def _log_fit(
    classifier: Any, name: str, run_id: str, model_id: str | None, step: int | None
) -> None:
    """Log metrics and documents of a fit to a run."""
    mlflow = _mlflow()
    metrics = fit_metrics(classifier)
    if metrics:
        mlflow.log_metrics(metrics, step=step, run_id=run_id, model_id=model_id)
    for document, text in fit_documents(classifier).items():
        stem, _, suffix = document.partition(".")
        mlflow.log_text(text, f"{stem}s/{name}.{suffix}", run_id=run_id)


def _check_classifier(classifier: Any) -> None:
    if isinstance(classifier, LinearClassifier):
        check_is_fitted(classifier)
        return
    name = type(classifier).__name__
    remedy = "log other estimators by the module of MLflow for their library"
    if hasattr(classifier, "steps"):
        remedy = "give the last step if the rows to score have passed the others"
    msg = f"MLflow models of directrix hold a fitted classifier of directrix, not {name}: {remedy}"
    raise TypeError(msg)


def _lines(requirements: Any) -> list[str]:
    """Return requirements as lines; a path is that of a file with requirements."""
    if requirements is None:
        return []
    if isinstance(requirements, str | PathLike):
        return [f"-r {requirements}"]
    return list(requirements)


def _mlflow() -> Any:
    try:
        import mlflow
        import mlflow.artifacts
        import mlflow.models
        import mlflow.pyfunc
    except ImportError as error:
        purpose = "models are saved and logged with mlflow and pandas"
        raise MissingLibraryError(purpose, "mlflow") from error
    return mlflow
