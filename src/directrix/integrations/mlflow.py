"""MLflow flavor: save, log and load fitted classifiers as model files, without pickle.

A saved model is a folder that MLflow understands. It holds the model file of
`directrix.export.save`, which contains numbers and text and no code, and the report of the fit.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.class_names import output_names
from directrix.exceptions import MissingLibraryError
from directrix.exceptions.files import ModelFileError
from directrix.export import load, save
from directrix.integrations.mlflow_records import fit_documents, fit_metrics, fit_params
from directrix.integrations.mlflow_signature import METHODS, infer_signature, typical_row

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

    Parameters
    ----------
    classifier : classifier of directrix, fitted
    path : str or path
        A folder that does not exist, or is empty.
    mlflow_model : mlflow.models.Model, optional
        Metadata to add the flavors to; `log_model` gives it.
    signature : mlflow.models.ModelSignature, optional
        By default it has the columns of the classifier, with types that fit the input example.
        False: no signature.
    input_example : data frame or array, optional
        A few rows, which are stored as text: give none that must not be read by others. By default
        a scorecard has a row of its most frequent bins, and other classifiers have none.
    pip_requirements : list of str or path, optional
        By default directrix and its dependencies in the versions that are installed.
    extra_pip_requirements : list of str or path, optional
        Requirements besides the default ones.
    metadata : dict, optional
        Entries for the file ``MLmodel``.

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
        pip_requirements = [*_default_requirements(), *_lines(extra_pip_requirements)]
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
    classifier : classifier of directrix, fitted
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

    Parameters
    ----------
    model_uri : str or path
        A folder, or a URI such as ``models:/credit@champion``, ``models:/credit/3`` or
        ``runs:/<run id>/<name>``.
    dst_path : str, optional
        An existing folder for the downloaded files; by default a temporary one.

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
    """A classifier as ``mlflow.pyfunc`` calls it.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier

    def get_raw_model(self) -> Any:
        """Return the classifier."""
        return self._classifier

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the class of each row, or what another method gives.

        Parameters
        ----------
        model_input : data frame or array
        params : dict, optional
            ``{"method": "predict_proba"}`` gives the probabilities of all classes, as a data frame
            whose columns are called after the classes, such as ``probability_bad``; other methods
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
        remedy = (
            "give the last step if the rows to score have passed the others, or log the pipeline "
            "as ONNX: mlflow.onnx.log_model(directrix.export.to_onnx(pipeline), ...)"
        )
    msg = f"MLflow models of directrix hold a fitted classifier of directrix, not {name}: {remedy}"
    raise TypeError(msg)


def _default_requirements() -> list[str]:
    return [f"{name}=={version(name)}" for name in _REQUIRED]


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
