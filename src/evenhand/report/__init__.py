"""Pages: records to one HTML file that needs nothing else, to Markdown, and to JUnit; no model is called.

    reading.py    records, store and items file to a Report: everything that a page shows
    pages.py      a Report to HTML; markdown.py and junit.py the other two forms
    templating.py how every page's templates are filled in
    numbers.py    all rounding; figures.py the pictures; visible.py text that cannot hide anything

A later page takes `pages.page` and the stylesheet in templates/, and gives its own body.
"""
