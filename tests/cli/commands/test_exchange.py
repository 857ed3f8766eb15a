"""The commands of an exchange: sketch, bins, release, merge and fit, as sites would use them."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")


def rows(n, seed):
    rng = np.random.default_rng(seed)
    age, home = rng.integers(18, 80, n), rng.choice(["own", "rent"], n)
    late = rng.logistic(size=n) < 0.05 * (45 - age) + (home == "rent") - 1.0
    return pd.DataFrame({"age": age, "home": home, "late": np.where(late, "yes", "no")})


@pytest.fixture
def sites(tmp_path):
    for seed, site in enumerate(("north", "south")):
        (tmp_path / site).mkdir()
        frame = rows(800, seed)
        if site == "south":
            frame["home"] = frame["home"].map({"own": "Eigentum", "rent": "Miete"})
            frame = frame.rename(columns={"age": "Alter"})
            names = {"columns": {"Alter": "age"}}
            names["levels"] = {"home": {"Eigentum": "own", "Miete": "rent"}}
            (tmp_path / site / "names.json").write_text(json.dumps(names))
        frame.to_csv(tmp_path / site / "rows.csv", index=False)
    return tmp_path


def test_two_sites_and_a_coordinator(call, sites):
    maps = {"north": [], "south": ["--map", sites / "south" / "names.json"]}
    for site, more in maps.items():
        given = [sites / site / "rows.csv", "-t", "late", "--site", site, *more]
        made = call("sketch", *given, "-o", sites / f"{site}.sketch", "--json")
        assert made.code == 0, made.err
        assert json.loads(made.out)["parts"][0]["site"] == site
    sketches = [sites / "north.sketch", sites / "south.sketch"]
    made = call("bins", *sketches, "--max-bins", "4", "-o", sites / "bins.json")
    assert made.code == 0, made.err
    assert "own, rent" in made.out
    for site, more in maps.items():
        given = [sites / site / "rows.csv", "-t", "late", "--site", site, *more]
        given += ["--bins", sites / "bins.json", "--ledger", sites / site / "ledger"]
        made = call("release", *given, "-o", sites / f"{site}.release")
        assert made.code == 0, made.err
        again = call("release", *given, "-o", sites / "again.release", "--force")
        assert again.code == 0, again.err
        assert (sites / "again.release").read_bytes() == (sites / f"{site}.release").read_bytes()
        other = call("release", *given, "--min-cell", "5", "-o", sites / "other.release")
        assert other.code == 1
        assert "records another release" in " ".join(other.err.split())
    names = [sites / f"{name}.release" for name in ("north", "south", "again")]
    made = call("merge", *names, "-o", sites / "pooled.release", "--json")
    assert made.code == 0, made.err
    assert [part["site"] for part in json.loads(made.out)["parts"]] == ["north", "south"]
    shown = call("show", sites / "pooled.release")
    assert "2 parts of 2 sites" in shown.out
    fitted = call("fit", sites / "pooled.release", "-m", "auc", "-o", sites / "card.dx")
    assert fitted.code == 0, fitted.err
    assert "from releases of 2 sites" in fitted.out
    refused = call("subtract", *names[:2], "-o", sites / "rest")
    assert refused.code != 0
    assert "not subtracted" in " ".join(refused.err.split())


def test_mistakes(call, sites):
    given = [sites / "north" / "rows.csv", "-t", "late", "--site", "north"]
    wrong = sites / "wrong.json"
    for text in ("{", '{"names": {}}', '{"columns": 3}', '{"kinds": {"none": "text"}}'):
        wrong.write_text(text)
        assert call("sketch", *given, "--map", wrong, "-o", sites / "a.sketch").code != 0
    assert call("sketch", *given, "--map", sites / "none", "-o", sites / "a.sketch").code != 0
    assert call("sketch", *given, "-o", sites / "a.sketch").code == 0
    refused = call("merge", sites / "a.sketch", "-o", sites / "b")
    assert refused.code != 0
    assert call("fit", sites / "a.sketch", "-o", sites / "b").code != 0


@pytest.fixture
def agreed(call, sites):
    for site, column in (("north", "age"), ("south", "Alter")):
        frame = pd.read_csv(sites / site / "rows.csv")
        frame = frame.rename(columns={column: "age"}).drop(columns="home")
        frame.to_csv(sites / f"{site}.csv", index=False)
        given = [sites / f"{site}.csv", "-t", "late", "--site", site]
        assert call("sketch", *given, "-o", sites / f"{site}.sketch").code == 0
    sketches = [sites / "north.sketch", sites / "south.sketch"]
    assert call("bins", *sketches, "-o", sites / "bins.json").code == 0
    return sites


def refusal(result, code=2):
    """Return the message of a command that has failed: 1 for a wrong file, 2 for a wrong call."""
    assert result.code == code, result.err
    return " ".join(result.err.split())


def test_sketches_and_bins_can_be_looked_at(call, agreed):
    shown = call("show", agreed / "north.sketch")
    assert shown.code == 0, shown.err
    assert "about 800 rows; 1 column" in shown.out
    assert "in all)" in next(line for line in shown.out.splitlines() if line.startswith("age "))
    values = call("show", agreed / "north.sketch", "--json").json
    assert values["kind"] == "TableSketch"
    assert values["columns"]["north"]["age"][0] >= 18
    shown = call("show", agreed / "bins.json")
    assert shown.out.startswith("column")
    assert call("show", agreed / "bins.json", "--json").json["columns"] == ["age"]


def test_a_release_says_how_to_name_a_column_that_is_lacking(call, agreed):
    frame = pd.read_csv(agreed / "south.csv").rename(columns={"age": "Alter"})
    frame.to_csv(agreed / "south.csv", index=False)
    given = [agreed / "south.csv", "-t", "late", "--site", "south", "--bins", agreed / "bins.json"]
    made = call("release", *given, "--ledger", agreed / "l", "-o", agreed / "a.release")
    text = refusal(made, 1)
    assert "no column 'age'" in text
    assert '{"columns": {"name of age here": "age"}}' in text


def test_other_files_are_told_by_what_they_are(call, agreed):
    rows_of_north = agreed / "north.csv"
    out = ["-o", agreed / "none"]
    assert "this needs a sketch" in refusal(call("bins", rows_of_north, *out), 1)
    given = [rows_of_north, "-t", "late", "--site", "north", *out]
    text = refusal(call("release", *given, "--bins", agreed / "north.sketch"), 1)
    assert "is a sketch, and this needs a file of bins" in text
    assert "is a sketch" in refusal(call("fit", agreed / "north.sketch", *out))
    assert "is a file of bins" in refusal(call("fit", agreed / "bins.json", *out))


@pytest.mark.parametrize(
    ("more", "option"),
    [
        ([], "--target"),
        (["-t", "late", "--epsilon", "1"], "--epsilon"),
        (["-t", "late", "--delta", "1e-6"], "--delta"),
        (["-t", "late", "--epsilon", "1", "--delta", "1e-6"], "--classes"),
        (
            ["-t", "late", "--epsilon", "1", "--delta", "1e-6", "--min-cell", "5"],
            "--min-cell",
        ),
    ],
)
def test_a_wrong_call_names_the_option(call, agreed, more, option):
    given = [agreed / "north.csv", "--site", "north", "--bins", agreed / "bins.json", *more]
    made = call("release", *given, "--ledger", agreed / "l", "-o", agreed / "a.release")
    assert f"Invalid value for {option}:" in refusal(made)


def test_a_card_of_releases_has_the_positive_label_and_no_guarantee(call, agreed):
    given = [agreed / "north.csv", "-t", "late", "--site", "north", "--bins", agreed / "bins.json"]
    release = agreed / "north.release"
    assert call("release", *given, "--ledger", agreed / "l", "-o", release).code == 0
    fitted = call("fit", release, "--positive", "no", "-m", "auc", "-o", agreed / "no.dx")
    assert fitted.code == 0, fitted.err
    assert "operating point: 'no' if points" in fitted.out
    made = call("fit", release, "-m", "recall@fpr=0.1", "--guarantee", "0.9", "-o", agreed / "g.dx")
    assert "--guarantee and --time-budget need rows" in refusal(made)
    assert not (agreed / "g.dx").exists()
