"""Errors carry fields and survive pickling; warnings point at the line of the user."""

import ast
import inspect
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import (
    DirectClassifier,
    Frontier,
    MomentClassifier,
    Moments,
    ScorecardClassifier,
    exceptions,
)
from directrix.exceptions import (
    CancellationError,
    CardSizeError,
    CopiedRowsWarning,
    CostColumnError,
    DifferentBinsError,
    DirectionWarning,
    FewDaysError,
    FewRowsWarning,
    FittedEstimatorWarning,
    Float32PrecisionWarning,
    LabelNotFoundError,
    LabelRangeError,
    LabelTypeError,
    MissingGroupsError,
    MissingLabelsError,
    MissingLibraryError,
    MissingScoresError,
    MixedLabelsError,
    NegativeCountError,
    NoHeldOutPointsError,
    NoHeldOutScoresError,
    NotBetterThanBaselineWarning,
    OneClassPredictedWarning,
    OtherScaleWarning,
    OutOfReachError,
    RefitDiffersWarning,
    ReversedScoresWarning,
    RowDecisionError,
    ShortCardWarning,
    SqlNameError,
    StateError,
    TableWarning,
    UncheckedColumnsWarning,
    UnusedBudgetWarning,
    UnweightedEstimatorWarning,
    WorkerLibraryError,
)
from directrix.exceptions.columns import (
    BinNotFoundError,
    ChangedColumnsWarning,
    ColumnChange,
    ColumnKindError,
    ColumnNamesError,
    ColumnNotFoundError,
    ColumnNotInFileError,
    InfiniteValuesError,
    LazyTableError,
    LevelNotFoundError,
    MissingColumnsError,
    MissingValuesError,
    NotNumericError,
    OwnBinsError,
    PandasIndexWarning,
    TypedCardError,
    UnusableColumnsError,
)
from directrix.exceptions.edits import EditError, LockboxReadWarning, NearestCutsWarning
from directrix.exceptions.files import (
    BinnerFileError,
    ModelFileError,
    MomentsFileError,
    NotUtf8Error,
)
from directrix.export import to_onnx
from directrix.linear.lbfgs import lbfgs
from directrix.metrics import RecallAtFPR
from directrix.metrics.limit import Limit
from directrix.rows.rows import FrameRows

pytestmark = pytest.mark.every_case  # each case sees its own error, and is cheap

#: Errors, the fields that they carry, and their messages.
ERRORS = [
    (
        LevelNotFoundError("town", "Gratz", ("Graz", "Linz")),
        {"column": "town", "level": "Gratz", "available": ("Graz", "Linz")},
        "column 'town' has no level 'Gratz'; did you mean 'Graz'? Its levels are 'Graz', 'Linz'",
    ),
    (
        BinNotFoundError("age", 7j, ("<= 30", "> 30")),
        {"column": "age", "bin": 7j, "available": ("<= 30", "> 30")},
        "column 'age' has no bin 7j; its bins are '<= 30', '> 30'",
    ),
    (
        OwnBinsError("age", "cuts", [5, 3], "cuts must be in increasing order"),
        {"column": "age", "parameter": "cuts", "given": [5, 3]},
        "cuts of column 'age': cuts must be in increasing order; given: [5, 3]",
    ),
    (
        TypedCardError("age", "<= 5", "its points must be a finite number, not nan"),
        {"column": "age", "bin": "<= 5"},
        "points of column 'age', '<= 5': its points must be a finite number, not nan",
    ),
    (
        EditError("there is no such line", {"edit": "merge", "column": "age", "from": 1, "to": 9}),
        {"problem": "there is no such line"},
        "merge(column='age', from=1, to=9): there is no such line",
    ),
    (
        NearestCutsWarning("age", (25.0,), (24.5,)),
        {"column": "age", "asked": (25.0,), "used": (24.5,)},
        (
            "column 'age' is cut at [24.5], the nearest cuts to [25.0] that are available without"
            " the rows; to cut it anywhere, edit the card with its rows: "
            "CardEditor.of(classifier, X, y)"
        ),
    ),
    (
        LockboxReadWarning(3),
        {"read_after": 3},
        (
            "the lockbox was already read, after 3 edits: if that result led to other edits, this"
            " one is too optimistic. Keep the first card, or evaluate on new rows"
        ),
    ),
    (
        CostColumnError("amount", ("a",)),
        {"column": "amount", "available": ("a",)},
        (
            "'amount' was not given, and is not a column of the table (its columns: 'a'): pass an"
            " array as amount= to DirectClassifier, ScorecardClassifier or "
            "OperatingPointClassifier, or a table with that column"
        ),
    ),
    (
        FewDaysError(12, 19, 0.95),
        {"days": 12, "needed": 19, "share": 0.95},
        (
            "to keep a budget on 95 % of new days, the threshold must be set on 19 days, and "
            "there are 12: use more days, or a lower guarantee"
        ),
    ),
    (
        ColumnNotFoundError("x", ["a", "b"]),
        {"name": "x", "available": ("a", "b"), "noun": "column"},
        "no column named 'x'; the columns are ['a', 'b']",
    ),
    (
        ColumnNotFoundError(8, "abcdefghijklmnopqrstu"),
        {"name": 8, "available": tuple("abcdefghijklmnopqrstu"), "noun": "column"},
        "no column named 8; the columns are 'a', 'b', 'c', 'd', 'e' and 16 more",
    ),
    (
        PandasIndexWarning(("__index_level_0__",)),
        {"columns": ("__index_level_0__",)},
        (
            "left out the index of a pandas data frame (__index_level_0__), which is no feature: "
            "name all features to use it"
        ),
    ),
    (
        ColumnNotInFileError("x", ["a"], "p1.parquet"),
        {"name": "x", "available": ("a",), "path": "p1.parquet"},
        (
            "no column named 'x' in 'p1.parquet', and other files have it; the columns of this "
            "file are ['a']: write the column to every file (with missing values where there are "
            "none), or name the columns to use in features"
        ),
    ),
    (
        ColumnNotFoundError("Ages", ["age", "wage", "rate", "__index_level_0__"]),
        {"name": "Ages", "similar": ("age", "wage")},
        (
            "no column named 'Ages'; did you mean 'age' or 'wage'? The columns are "
            "['age', 'wage', 'rate']"
        ),
    ),
    (
        MissingColumnsError("age", ["agee"], "Feature names should match.\n"),
        {"name": "age", "available": ("agee",), "refusal": "Feature names should match.\n"},
        (
            "Feature names should match.\nno column named 'age'; did you mean 'agee'? The columns "
            "are ['agee']"
        ),
    ),
    (
        MissingColumnsError("age", ["wage", "Age"], "", fitted=["age", "wage"]),
        {"similar": ("Age",), "fitted": ("age", "wage")},
        "no column named 'age'; did you mean 'Age'? The columns are ['wage', 'Age']",
    ),
    (
        MissingColumnsError("age", ["sex"], "", ["age"]),
        {"name": "age", "available": ("sex",), "refusal": "", "unused": ("age",)},
        (
            "no column named 'age'; the columns are ['sex']. The card gives no points to 'age': "
            "X.reindex(columns=card.feature_names_in_) adds such columns, without values"
        ),
    ),
    (
        ChangedColumnsWarning(
            (
                ColumnChange(2, "income", "missing", None, 90, 90, 0.03, (12.0, 180.0)),
                ColumnChange(0, "wage", "above", 264.0, 1998, 2000, 0.0, (12.0, 180.0)),
                ColumnChange(1, "area", "new", "X1", 90, 90, 0.1, (0.0, 0.0)),
                ColumnChange(3, "rate", "near zero", 0.1, 20, 90, 0.0, (1.0, 2.0)),
            )
        ),
        {"columns": ("income", "wage", "area", "rate")},
        (
            "columns are not what they were in training: 'income': all 90 values are missing (3 % "
            "in training); 'wage': 1,998 of 2,000 values are above 264 (none in training, where 99 "
            "% are from 12 to 180); 'area': all 90 values are new or rare levels, such as 'X1' (10 "
            "% in training); and 1 more. Check their source, units and codes"
        ),
    ),
    (
        LazyTableError("polars LazyFrame"),
        {"kind": "polars LazyFrame"},
        (
            "this needs rows in memory, and got a polars LazyFrame: call its collect() first, or "
            "train a classifier by fit_source(frame, target=...), which reads it as a stream"
        ),
    ),
    (
        MissingGroupsError(1200, 3),
        {"rows": 1200, "first": 3},
        (
            "groups is missing (None, NaN or NA) in 1,200 rows, the first at position 3: give each "
            "of them a group of its own, or drop these rows"
        ),
    ),
    (
        MixedLabelsError(("a", 1)),
        {"labels": ("a", 1)},
        (
            "y has labels of several types, such as 'a' and 1: give all of them one type, for "
            "instance by [str(label) for label in y]"
        ),
    ),
    (
        ColumnNamesError((10, "b"), 10),
        {"names": (10, "b"), "name": 10},
        (
            "names of columns must be texts, and 10 is none; the names are 10, 'b': give every "
            "column a text, for instance by X.columns = X.columns.astype(str)"
        ),
    ),
    (
        MissingLabelsError(1200, 3),
        {"rows": 1200, "first": 3},
        (
            "y has missing labels (None, NaN or NA) in 1,200 rows, the first at position 3: drop "
            "these rows from X and y, or label them"
        ),
    ),
    (
        ColumnNotFoundError("x", {}, "feature"),
        {"name": "x", "available": (), "noun": "feature"},
        "no feature named 'x'; the features have no names",
    ),
    (
        NotNumericError(["town"], ["str"]),
        {"columns": ("town",), "dtypes": ("str",)},
        (
            "column 'town' holds str, not numbers; use ScorecardClassifier or "
            "summarize(features='auto'), which take text and missing values as they are, or encode "
            "such columns (OneHotEncoder in a Pipeline), or drop them"
        ),
    ),
    (
        NotNumericError("abcdefg", ["str", "date", "str", "str", "str", "str", "str"], "stop"),
        {"columns": tuple("abcdefg"), "remedy": "stop"},
        "columns 'a', 'b', 'c', 'd', 'e' and 2 more hold str, date, not numbers; stop",
    ),
    (
        ColumnKindError("town", "texts", "numbers"),
        {"column": "town", "holds": "texts", "expected": "numbers"},
        ("column 'town' holds texts, but numbers are expected: convert it, or leave it out"),
    ),
    (
        NotUtf8Error("rows/a.csv", 3, 0xF6, "ISO-8859-1"),
        {"path": "rows/a.csv", "line": 3, "byte": 0xF6, "encoding": "ISO-8859-1"},
        (
            "rows/a.csv is not UTF-8: line 3 has the byte 0xf6. Save it as UTF-8; if it is "
            "ISO-8859-1, iconv -f ISO-8859-1 -t UTF-8 rows/a.csv > rows/a-utf8.csv does so"
        ),
    ),
    (
        SqlNameError("feature 2 has an empty name", "", (2,)),
        {"name": "", "positions": (2,)},
        "feature 2 has an empty name",
    ),
    (
        CancellationError(("a", "b")),
        {"columns": ("a", "b")},
        (
            "subtraction would leave fewer than seven correct digits of the variance of columns "
            "'a', 'b' (nearly all of it is in the part to remove): add up the parts you keep "
            "instead"
        ),
    ),
    (
        DifferentBinsError("age"),
        {"column": "age"},
        (
            "the counts come from two binners, which differ in column 'age': count all rows with "
            "the same fitted binner, or make the bins equal with `rebin`"
        ),
    ),
    (
        NegativeCountError("age", "> 65"),
        {"column": "age", "cell": "> 65"},
        (
            "cannot subtract counts that are not part of the others: cell '> 65' of column 'age' "
            "would become negative"
        ),
    ),
    (
        NegativeCountError(),
        {"column": None, "cell": None},
        (
            "cannot subtract counts that are not part of the others: the number of rows would "
            "become negative"
        ),
    ),
    (
        MomentsFileError("it is damaged", "folder/a.moments"),
        {"reason": "it is damaged", "path": "folder/a.moments"},
        "a.moments cannot be read as a summary: it is damaged",
    ),
    (ModelFileError("it is damaged"), {"reason": "it is damaged", "path": None}, "it is damaged"),
    (
        ModelFileError("it is damaged", "folder/a.dx"),
        {"reason": "it is damaged", "path": "folder/a.dx"},
        "a.dx cannot be read as a model: it is damaged",
    ),
    (
        BinnerFileError("it is damaged", "folder/bins.json"),
        {"reason": "it is damaged", "path": "folder/bins.json"},
        "bins.json cannot be read as a binner: it is damaged",
    ),
    (
        MissingValuesError(["age", 3], 1200),
        {"columns": ("age", 3), "rows": 1200, "partial": False},
        (
            "columns 'age', 3 hold missing values (NaN) in 1,200 rows; use ScorecardClassifier or "
            "summarize(features='auto'), which take text and missing values as they are, or impute "
            "them (SimpleImputer in a Pipeline), or drop those rows"
        ),
    ),
    (
        InfiniteValuesError([3], 1, partial=True),
        {"columns": (3,), "rows": 1, "partial": True},
        (
            "column 3 holds infinity in at least 1 row; replace it by a finite number, or drop "
            "those rows"
        ),
    ),
    (
        InfiniteValuesError(["age"], 2),
        {"columns": ("age",), "rows": 2},
        "column 'age' holds infinity in 2 rows; replace it by a finite number, or drop those rows",
    ),
    (StateError("no coefficients"), {"reason": "no coefficients"}, "no coefficients"),
    (
        OutOfReachError("too few", Limit("fpr", 0.1, at_most=True), 50, 59),
        {"limit": Limit("fpr", 0.1, at_most=True), "rows": 50, "needed": 59},
        "too few",
    ),
    (
        MissingLibraryError("displays are drawn with matplotlib", "matplotlib"),
        {"library": "matplotlib", "name": "matplotlib", "extra": "plot"},
        "displays are drawn with matplotlib: pip install 'directrix[plot]'",
    ),
    (
        LabelNotFoundError("yes", (0, 1)),
        {"label": "yes", "available": (0, 1)},
        "positive='yes' is not a label: give one of 0, 1",
    ),
    (
        CardSizeError(10, (40, 60)),
        {"max_lines": 10, "known": (40, 60)},
        (
            "no card has at most 10 lines; the sizes are 40, 60. Choose one of these, or fit with"
            " max_lines=10"
        ),
    ),
    (
        MissingScoresError("the scores", 2, 7),
        {"source": "the scores", "rows": 2, "first": 7},
        (
            "the scores: NaN or infinite in 2 rows, the first at position 7: drop these rows, or "
            "give them a score (the lowest, if they should never be flagged)"
        ),
    ),
    (
        OtherScaleWarning(3, 41.5),
        {"rows": 3, "score": 41.5},
        (
            "3 scores are outside 0 to 1, such as 41.5, but the classifier was fitted to "
            "probabilities: are these percentages or log-odds? Pass scores on the same scale as "
            "in fit"
        ),
    ),
    (
        UnusedBudgetWarning("at most 200 alerts a day", "day", 97),
        {"budget": "at most 200 alerts a day", "per": "day", "rows": 97},
        (
            "a budget of at most 200 alerts a day decides nothing: the largest day has 97 rows. "
            "Check that day= has the same value for all rows of a day, or give a smaller budget"
        ),
    ),
    (
        UncheckedColumnsWarning(12),
        {"columns": 12},
        (
            "the day has no columns, and the reference has 12: only the scores are checked. Give "
            "summarize_day the binner of the reference days, binner="
        ),
    ),
    (
        CopiedRowsWarning("bad", 280, 340),
        {"label": "bad", "copies": 280, "rows": 340},
        (
            "280 of the 340 rows of 'bad' are copies of others, far more than by chance: held-out "
            "rows have copies among the training rows, and what is expected of new rows is too "
            "good. Give groups=, the number of the original of each row, or leave the copies out "
            "(class_weight='balanced' does what they do)"
        ),
    ),
    (
        TableWarning(("column 'a': one", "column 'b': two")),
        {"findings": ("column 'a': one", "column 'b': two")},
        "column 'a': one\ncolumn 'b': two",
    ),
    (
        CopiedRowsWarning(None, 300, 600),
        {"label": None, "copies": 300, "rows": 600},
        (
            "300 of the 600 rows are copies of others, labels included, far more than by chance: "
            "held-out rows have copies among the training rows, and what is expected of new rows "
            "is too good. Give groups=, the number of the original of each row, or leave the "
            "copies out (a join may have multiplied rows)"
        ),
    ),
    (
        FittedEstimatorWarning("a model"),
        {"estimator": "a model"},
        (
            "this str is fitted already, and copies of it are fitted to these rows now: wrap it in "
            "sklearn.frozen.FrozenEstimator to keep it as it is, and give rows that it was not "
            "fitted to; sklearn.base.clone makes an unfitted copy"
        ),
    ),
    (
        RefitDiffersWarning("DecisionTreeClassifier", -0.02, 0.125, 14),
        {"estimator": "DecisionTreeClassifier", "tpr": -0.02, "fpr": 0.125, "levels": 14},
        (
            "the copies of DecisionTreeClassifier that were cross-fitted are not like the final "
            "one, which has 14 distinct scores: at this threshold it flags -2.0% of the positives "
            "and +12.5% of the negatives more than they do, and the intervals of the rates are so "
            "much wider. For the rates of the final one itself fit it first, wrap it in "
            "sklearn.frozen.FrozenEstimator, and give rows that it was not fitted to"
        ),
    ),
    (
        ReversedScoresWarning(0.08, "bad", "good"),
        {"auc": 0.08, "positive": "bad", "other": "good"},
        (
            "higher scores mean 'good', not 'bad' (AUC 0.080): these seem to be scores of the "
            "other class. Make 'good' the positive label, or pass the scores of 'bad': the other"
            " column of predict_proba, or the negative of these scores"
        ),
    ),
    (
        UnweightedEstimatorWarning("KNeighborsClassifier"),
        {"estimator": "KNeighborsClassifier"},
        (
            "KNeighborsClassifier takes no sample_weight: it is fitted without weights, and only "
            "the threshold and the rates are weighted"
        ),
    ),
    (
        LabelTypeError(b"a"),
        {"label": b"a"},
        (
            "the label b'a' is of type bytes, which SQL, ONNX, PMML, JSON and Python source cannot "
            "all write: fit the classifier to labels that are texts, numbers, booleans or dates"
        ),
    ),
    (
        WorkerLibraryError("directrix"),
        {"library": "directrix"},
        (
            "the workers of Spark have no 'directrix': install this package, with what it needs, "
            "in the Python that PYSPARK_PYTHON names on each of them, or send an environment that "
            "has it (spark.archives)"
        ),
    ),
    (
        LabelRangeError(1 << 40, "PMML"),
        {"label": 1 << 40, "format": "PMML"},
        (
            "the label 1099511627776 is beyond 32 bits, which whole numbers have where PMML is "
            "read: fit the classifier to smaller labels, or to texts"
        ),
    ),
    (
        RowDecisionError(("amount", "team"), "Export the estimator"),
        {"columns": ("amount", "team"), "remedy": "Export the estimator"},
        (
            "this model decides by 'amount' and 'team' of each row as well as by its score, which "
            "is not exported: one threshold for all rows would flag other rows. Decide by predict "
            "in Python. Export the estimator"
        ),
    ),
    (
        NoHeldOutScoresError("MomentClassifier"),
        {"classifier": "MomentClassifier"},
        (
            "this MomentClassifier cannot set other thresholds: it has no held-out scores, "
            "because it was fitted to a summary, read from a file, or recalibrated by other rows. "
            "Fit it to rows or with fit_source, or pass predict an operating point that was made "
            "then"
        ),
    ),
    (
        NotBetterThanBaselineWarning("logistic regression", ("AUC", "F1")),
        {"baseline": "logistic regression", "metrics": ("AUC", "F1")},
        (
            "logistic regression is as good on held-out rows, by AUC, F1: it is the simpler "
            "choice, and better features will help more than another model. See report_ for what "
            "was tried; warn_baseline=False turns this warning off."
        ),
    ),
    (
        ShortCardWarning("AUC", 10, 165, 0.05512),
        {"metric": "AUC", "lines": 10, "full_lines": 165, "behind": 0.05512},
        (
            "this card of 10 lines is clearly behind the full card of 165 lines, by 0.0551 in AUC "
            "on held-out rows: it has too few lines. Give max_lines more, or None for the full "
            "card; sizes() shows what each size is expected to reach, and warn_baseline=False "
            "turns this warning off."
        ),
    ),
    (
        DirectionWarning(("age", "income")),
        {"columns": ("age", "income")},
        (
            "the rows contradict the direction asked of 'age', 'income', which therefore have no "
            "effect: ask for the other direction, or leave the column out"
        ),
    ),
    (
        Float32PrecisionWarning(0.25),
        {"change": 0.25},
        (
            "rounding the features to float32 can change the log-odds by 0.25, and predictions "
            "with them, because features are far from zero relative to their spread: use "
            'dtype="float64", or centre the features before the classifier is fitted'
        ),
    ),
]
#: What code written before these classes existed catches, where it is no ValueError.
BASES = {
    ColumnNotFoundError: KeyError,
    ColumnNotInFileError: KeyError,
    MissingColumnsError: ColumnNotFoundError,
    ColumnKindError: TypeError,
    ColumnNamesError: TypeError,
    MixedLabelsError: TypeError,
    LabelTypeError: TypeError,
    RowDecisionError: TypeError,
    WorkerLibraryError: ImportError,
    LazyTableError: TypeError,
    NotNumericError: TypeError,
    CancellationError: ArithmeticError,
    MissingLibraryError: ImportError,
}
WITHOUT_FIELDS = {
    FewRowsWarning,
    NoHeldOutPointsError,
    OneClassPredictedWarning,
    UnusableColumnsError,
}


def test_every_class_is_tested_here():
    classes = {
        value
        for name, value in vars(exceptions).items()
        if inspect.isclass(value) and issubclass(value, Exception) and not name.startswith("_")
    }
    assert classes == {type(error) for error, _, _ in ERRORS} | WITHOUT_FIELDS


@pytest.mark.parametrize(("error", "fields", "message"), ERRORS)
def test_an_error_carries_its_fields(error, fields, message):
    assert {name: getattr(error, name) for name in fields} == fields
    assert str(error) == message
    other = UserWarning if isinstance(error, Warning) else ValueError
    assert isinstance(error, BASES.get(type(error), other))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(("error", "fields", "message"), ERRORS)
def test_an_error_survives_pickling(error, fields, message, protocol):
    copy = pickle.loads(pickle.dumps(error, protocol))  # noqa: S301 - our own bytes
    assert type(copy) is type(error)
    assert {name: getattr(copy, name) for name in fields} == fields
    assert str(copy) == message


def test_an_error_of_a_worker_process_reaches_the_caller(tmp_path):
    # An error that cannot be unpickled would break the pool.
    path = tmp_path / "a.moments"
    path.write_bytes(b"something else")
    moments = Moments.of(np.eye(4), [0, 0, 1, 1], feature_names=list("abcd"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        refused = pool.submit(Moments.load, path).exception(timeout=60)
        missing = pool.submit(moments.select, ["x"]).exception(timeout=60)
    assert isinstance(refused, MomentsFileError)
    assert refused.path == str(path)
    assert isinstance(missing, ColumnNotFoundError)
    assert (missing.name, missing.available) == ("x", tuple("abcd"))


def test_errors_of_a_data_frame_name_the_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "town": ["x", "y"]})
    with pytest.raises(ColumnNotFoundError) as caught:
        FrameRows(frame, ["b"])
    assert (caught.value.name, caught.value.available) == ("b", ("a", "town"))
    with pytest.raises(NotNumericError) as caught:
        FrameRows(frame)
    assert caught.value.columns == ("town",)
    assert caught.value.dtypes == ("str",)  # also where pandas says object


def test_errors_of_a_summary_name_the_feature():
    moments = Moments.of(np.eye(4), [0, 0, 1, 1], feature_names=list("abcd"))
    with pytest.raises(ColumnNotFoundError) as caught:
        moments.select(["a", "x"])
    assert (caught.value.name, caught.value.available) == ("x", tuple("abcd"))


def test_errors_of_a_file_name_it(tmp_path):
    path = tmp_path / "a.moments"
    path.write_bytes(b"something else")
    with pytest.raises(MomentsFileError) as caught:
        Moments.load(path)
    assert caught.value.path == str(path)
    assert "cut short" in caught.value.reason


def rows(n_positives=40, n_negatives=40, gap=2.0):
    rng = np.random.default_rng(0)
    y = np.repeat([False, True], [n_negatives, n_positives])
    return rng.normal(size=(len(y), 2)) + gap * y[:, None], y


def steep(coef):
    """Return the Rosenbrock function and its gradient: descent needs many iterations."""
    a, b = coef
    value = (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2
    slope = np.array([-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)])
    return value, slope


#: Classifiers, rows, and the warning of their fits.
FITS = {
    "few rows": (MomentClassifier("error"), rows(3), FewRowsWarning),
    "strict limit": (MomentClassifier(RecallAtFPR(0.001)), rows(), FewRowsWarning),
    "one class predicted": (
        MomentClassifier("error"),
        rows(20, 400, 0.0),
        OneClassPredictedWarning,
    ),
    "no better than logistic regression": (
        ScorecardClassifier("auc", cv=2, max_crosses=0),
        rows(300, 300, 1.0),
        NotBetterThanBaselineWarning,
    ),
    "moments choose one class": (
        MomentClassifier("error", sample=0),
        rows(20, 400, 0.0),
        UserWarning,
    ),
}
#: Other calls that warn.
CALLS = {
    "contradicted direction": (
        lambda: DirectClassifier("auc", cv=2, monotone={0: "decreasing"}).fit(*rows()),
        DirectionWarning,
    ),
    "rows of one class": (
        lambda: MomentClassifier().partial_fit(*rows(0), classes=[False, True]),
        FewRowsWarning,
    ),
    "solver": (lambda: lbfgs(steep, np.zeros(2), max_iter=2), ConvergenceWarning),
    "frontier": (lambda: Frontier(Moments.of(*rows(20, 400, 0.0))).best("error"), UserWarning),
    "float32": (
        lambda: to_onnx(
            MomentClassifier(sample=0).fit(rows()[0] + 1e9, rows()[1]), dtype="float32"
        ),
        Float32PrecisionWarning,
    ),
}


def test_every_warning_asks_where_the_line_of_the_user_is():
    calls = [
        (path.name, call)
        for path in Path(exceptions.__file__).parents[1].rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("warn", "warnings.warn")
    ]
    assert calls
    for name, call in calls:
        levels = {word.arg: ast.unparse(word.value) for word in call.keywords}
        assert levels.get("stacklevel") == "find_stacklevel()", f"{name}:{call.lineno}"


def lines_of(warns, call):
    """Return the file and line of each warning of a class that a call gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    places = {(each.filename, each.lineno) for each in caught if issubclass(each.category, warns)}
    assert places
    return places


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name, (_, _, category) in FITS.items()
        for way in ("directly", "pipeline", "grid search")
        # Advice about single fits is not given in a search.
        if (way, category) != ("grid search", NotBetterThanBaselineWarning)
    ],
)
def test_a_warning_of_a_fit_points_at_the_line_that_fits(name, way):
    classifier, (X, y), category = FITS[name]
    if way == "pipeline":
        classifier = make_pipeline(StandardScaler(), classifier)
    if way == "grid search":
        classifier = GridSearchCV(make_pipeline(StandardScaler(), classifier), {}, cv=2)
    fit = lambda: classifier.fit(X, y)  # noqa: E731 - all on one line
    line = inspect.currentframe().f_lineno - 1
    assert lines_of(category, fit) == {(__file__, line)}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_of_a_call_points_at_this_file(name):
    call, category = CALLS[name]
    if name == "float32":
        pytest.importorskip("onnx")
    assert {path for path, _ in lines_of(category, call)} == {__file__}
