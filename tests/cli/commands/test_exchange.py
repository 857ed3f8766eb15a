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
