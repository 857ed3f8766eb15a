import pytest

from directrix.export.sql.sums import sum_sql


@pytest.mark.parametrize("n", [1, 50, 51, 2_500, 2_501])
def test_all_terms_are_added_once_in_their_order_and_no_bracket_holds_many(n):
    text = sum_sql([f"t[{k}]" for k in range(n)])
    added = []

    class Terms:
        def __getitem__(self, k):
            added.append(k)
            return k

    assert eval(text, {"t": Terms()}) == n * (n - 1) // 2  # noqa: S307 - our own text
    assert added == list(range(n))
    flat = text
    while "(" in flat:  # innermost brackets first
        start = flat.rindex("(")
        end = flat.index(")", start)
        assert flat.count("+", start, end) < 50
        flat = f"{flat[:start]}s{flat[end + 1 :]}"
