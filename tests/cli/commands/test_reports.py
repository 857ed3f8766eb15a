import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from directrix.documents import to_document
from directrix.export import load


@pytest.fixture(scope="module")
def card_files(tmp_path_factory):
    """Return a folder with rows, a card of them, and what an author says."""
    from directrix import ScorecardClassifier
    from directrix.export import save

    folder = tmp_path_factory.mktemp("card")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 9, 400), "home": rng.choice(["own", "rent"], 400)})
    risk = (table["age"] < 35) + (table["home"] == "rent") + rng.normal(size=400)
    y = np.where(risk > 1, "bad", "good")
    card = ScorecardClassifier("auc", positive="bad", cv=2, max_crosses=0, warn_baseline=False)
    save(card.fit(table, y), folder / "card.dx")
    table.assign(status=y).to_parquet(folder / "rows.parquet")
    (folder / "about.toml").write_text('title = "Loans"\nauthor = "Ada"\n')
    return folder


@pytest.mark.parametrize("template", ["committee", "clinical"])
def test_a_document_is_that_of_the_library(call, card_files, tmp_path, template):
    options = ["--template", template, "--about", card_files / "about.toml"]
    options += ["-t", "status"]
    output = tmp_path / "d.html"
    rows = card_files / "rows.parquet"
    result = call("report", card_files / "card.dx", rows, *options, "-o", output, "--json")
    assert result.code == 0, result.err
    html = output.read_text(encoding="utf-8")
    assert "<h1>Loans</h1>" in html
    model, rows = load(card_files / "card.dx"), pd.read_parquet(rows)
    options = {"template": template, "about": {"title": "Loans", "author": "Ada"}}
    made = to_document(model, rows.drop(columns="status"), rows["status"], **options)
    assert html == made


def test_the_checksum_is_that_of_the_exported_file(call, card_files, tmp_path):
    from hashlib import sha256

    output = tmp_path / "d.html"
    model = card_files / "card.dx"
    assert call("report", model, "-o", output).code == 0
    assert call("export", model, "--to", "sql", "-o", tmp_path / "card.sql").code == 0
    checksum = sha256((tmp_path / "card.sql").read_bytes()).hexdigest()
    assert checksum in output.read_text(encoding="utf-8")
