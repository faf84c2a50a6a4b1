"""`-o FILE` and `--plot` of the commands that ask whether a judge can be trusted.

The form is chosen by the ending: .html, .md or .json. Pictures stand beside the first named file and carry its name,
`report-distribution.png` for `-o report.html`; without one in the current folder, `diagnose-distribution.png`.
All that is asked for is checked before anything is computed, made before anything is written, and written whole.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.output import json_text, say, shown
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.report.trust_pages import TrustContent

__all__ = ["Output", "Outputs", "Plot", "has_figures", "outputs"]

Output = Annotated[
    list[Path] | None, typer.Option("--output", "-o", help="report.html, report.md or report.json; repeatable.")
]
Plot = Annotated[
    str | None, typer.Option(metavar="png|svg", help="Write each figure as a file too, beside the report.")
]

_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}
_PLOTS = ("png", "svg")


class Outputs:
    """What a command was asked to write."""

    def __init__(self, command: str, forms: Mapping[Path, str], plot: str | None) -> None:
        self._command = command
        self._forms = forms
        self._plot = plot

    def write(self, document: Any, content: "Callable[[bool], TrustContent]") -> list[Path]:
        """Write all of it; every file is whole or not there.

        Args:
            document: what `--json` prints.
            content: the page, with or without figures.
        Returns:
            The files, each also named on stderr.
        """
        made = dict(self._made(document, content))
        from evenhand.store.text_files import Replacement

        for path, data in made.items():
            with Replacement(path) as replacement:
                replacement.write(data)
        for path in made:
            say(f"written  {shown(str(path))}")
        return list(made)

    def _made(self, document: Any, content: "Callable[[bool], TrustContent]") -> "list[tuple[Path, bytes]]":
        """The bytes of each file."""
        drawn = self._plot is not None or "html" in self._forms.values()
        if not drawn and "markdown" not in self._forms.values():
            return [(path, json_text(document).encode()) for path in self._forms]
        from evenhand.report.trust_pages import figures_of, trust_markdown, trust_page

        whole = content(drawn)
        found = []
        for path, form in self._forms.items():
            if form == "json":
                found.append((path, json_text(document).encode()))
            else:
                found.append((path, (trust_page if form == "html" else trust_markdown)(whole).encode()))
        if self._plot is not None:
            from evenhand.report.chart_kit import png_file, svg_file

            for figure in figures_of(whole):
                data = png_file(figure) if self._plot == "png" else svg_file(figure).encode()
                found.append((self._picture(figure.name), data))
        return found

    def _picture(self, name: str) -> Path:
        """Beside the first file, with its name."""
        first = next(iter(self._forms), None)
        beside = Path(self._command) if first is None else first.with_suffix("")
        return beside.with_name(f"{beside.name}-{name}.{self._plot}")


def outputs(command: str, output: Sequence[Path] | None, plot: str | None, *, read: Sequence[Path] = ()) -> Outputs:
    """Check what is to be written, before anything is computed.

    Args:
        command: its name, of pictures without a report.
        read: files that are read, and must not be written over.
    Raises:
        InvalidInput: an unknown ending or form of picture, a file that is read, or the extra `figures` is missing.
    """
    forms = {path: _form(path, read) for path in output or ()}
    if plot is not None and plot not in _PLOTS:
        raise InvalidInput(f"--plot {shown(plot, 40)}: expected png or svg")
    if plot is not None or "html" in forms.values():
        from evenhand.report.chart_kit import altair

        altair()
    return Outputs(command, forms, plot)


def has_figures() -> bool:
    """Whether the extra `figures` is installed."""
    from evenhand.report.chart_kit import altair

    try:
        altair()
    except InvalidInput:
        return False
    return True


def _form(path: Path, read: Sequence[Path]) -> str:
    form = _FORMS.get(path.suffix.casefold())
    if form is None:
        raise InvalidInput(
            f"-o {shown(str(path))}: the form is chosen by the ending; name the file .html, .md or .json"
        )
    if not path.parent.is_dir():
        raise InvalidInput(f"-o {shown(str(path))}: there is no folder {shown(str(path.parent))}; make it first")
    for source in read:
        if path.exists() and source.exists() and path.samefile(source):
            raise InvalidInput(f"-o {shown(str(path))}: this is the file that is read; name another one")
    return form
