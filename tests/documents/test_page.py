import pytest

from directrix.documents.page import Bar, Page


def test_text_is_escaped():
    page = Page("a < b", "c & d")
    page.heading("<h>")
    page.paragraph("<p>", note=True)
    page.bullets(["<li>"])
    page.cards([("<1>", "<caption>")])
    page.table(["<th>"], [["<td>"], ["plain"]], highlighted=1)
    html = page.html()
    for text in ("a &lt; b", "c &amp; d", "&lt;h&gt;", "&lt;p&gt;", "&lt;li&gt;", "&lt;1&gt;"):
        assert text in html
    assert "<th>&lt;th&gt;</th>" in html
    assert "<tr><td>&lt;td&gt;</td></tr>" in html
    assert '<tr class="highlighted"><td>plain</td></tr>' in html
    assert html.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("share", "style"),
    [(0.5, "left:50.0%;width:25.0%"), (-0.5, "left:25.0%;width:25.0%"), (7, "width:50.0%")],
)
def test_a_bar_starts_in_the_middle(share, style):
    assert style in Bar(share).html()


def test_a_figure_is_embedded_and_closed():
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot as plt

    figure = plt.figure()
    page = Page("title", "lead")
    page.figure(figure, "a figure")
    assert 'alt="a figure" src="data:image/png;base64,iVBOR' in page.html()
    assert figure.number not in plt.get_fignums()
