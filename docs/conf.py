"""Sphinx settings. Build the site with ``make docs``."""

import os
import sys
from pathlib import Path

from docutils import nodes

import directrix

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "directrix"
author = "The directrix maintainers"
copyright = author  # noqa: A001 - the name that Sphinx expects
version = release = directrix.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxext.opengraph",
    "formulas",
    "reference",
    "repository",
    "tables",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_ext", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "autolink"
nitpicky = True
nitpick_ignore = [("py:obj", "math")]  # of the standard library

# Pages are Markdown, with formulas between dollar signs.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# The API reference comes from docstrings, which describe the types.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
toc_object_entries_show_parents = "hide"
autosummary_imported_members = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Every example of the gallery is executed, by the rules of its tests.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "subsection_order": [
        f"../examples/{section}" for section in ("cards", "decide", "check", "rows")
    ],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "image_scrapers": ("gallery_rules.require_titles",),
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib", "gallery_rules.require_no_warnings"),
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "capture_repr": (),
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": False,
    "plot_gallery": "True",
}

# Addresses of pages and of the picture in previews of links; the deployment knows the site.
html_baseurl = ogp_site_url = os.environ.get("DOCS_URL", "")
ogp_image = "_static/editor.png"
ogp_image_alt = (
    "A scorecard of loans in the browser: its operating point, its points, and what each edit costs"
)
ogp_enable_meta_description = True
ogp_social_cards = {"enable": False}

html_theme = "pydata_sphinx_theme"
html_title = "directrix"
html_static_path = ["_static"]
html_favicon = "_static/mark.svg"
html_css_files = ["site.css"]
html_js_files = ["code.js"]
html_show_sourcelink = False
html_copy_source = False
# The deployment knows the repository, too.
_repository = os.environ.get("GITHUB_REPOSITORY", "")
_server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
html_theme_options = {
    "logo": {
        "text": "directrix",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
        "alt_text": "",
    },
    "navbar_end": ["version-tag", "theme-switcher", "navbar-icon-links"],
    "icon_links": [
        {"name": "Repository", "url": f"{_server}/{_repository}", "icon": "fa-brands fa-github"}
    ]
    if _repository
    else [],
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["footer-links"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {
    "evidence": [],
    "extend": [],
    "index": [],
}


def _without_blank_ends(_, doctree):
    """Remove the blank line at the end of code blocks, which doctest needs in Markdown."""
    for block in doctree.findall(nodes.literal_block):
        if len(block.children) == 1:
            block.rawsource = block.astext().rstrip("\n")
            block.children[0] = nodes.Text(block.rawsource)
            block.children[0].parent = block


def setup(app):
    """Register the clean-up of code blocks."""
    app.connect("doctree-read", _without_blank_ends)
