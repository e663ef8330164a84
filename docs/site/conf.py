"""Settings of Sphinx for the site, whose pages `docs.site.assemble` writes."""

from pygments.lexers.python import PythonLexer

from weebill import __version__ as release

project = "Weebill"
author = project_copyright = "The Weebill contributors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4  # links name headings as on GitHub
highlight_language = "none"
default_role = "code"  # docstrings mark code by single backticks
autoclass_content = "both"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # they are fetched, which browsers refuse to pages from disk
html_theme_options = {"top_of_page_buttons": []}


def setup(app):
    """Let Sphinx show Snakemake's language as the Python that it is made of."""
    app.add_lexer("snakemake", PythonLexer)
