"""Files that look like a published table and are none that can be read: spreadsheets, PDFs, drawn and aligned ones."""

import re
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.store.text_files import quoted

__all__ = ["refuse_drawn", "refuse_foreign"]

_SHEET = "a spreadsheet", "save its sheet as CSV"
_PICTURE = "a picture", "type or copy its table into a CSV file"
_TYPESET = "a PDF or another typeset document", "copy its table into a CSV or Markdown file"
_PACKED = "an archive", "unpack it and name the table in it"
_ENDINGS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"), _SHEET),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"), _PICTURE),
    **dict.fromkeys((".pdf", ".docx", ".doc", ".odt", ".pptx"), _TYPESET),
    **dict.fromkeys((".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".zst"), _PACKED),
}
_BEGINNINGS = (
    (b"%PDF", _TYPESET),
    (b"\xd0\xcf\x11\xe0", _SHEET),  # spreadsheets before 2007
    (b"\x89PNG", _PICTURE),
    (b"\xff\xd8\xff", _PICTURE),
    (b"\x1f\x8b", _PACKED),
)
_DRAWN = re.compile(r"\s*(?:[─━═┌┏╔╭│┃║├┣╠└┗╚╰]|\+[-=]{2,}[-=+]*\s*$|[-=]{3,}[-=\s]*$)")
_TEX = re.compile(r"\\(?:begin|toprule|hline|documentclass|usepackage)\b|.*&.*\\\\\s*$")


def refuse_foreign(path: Path, name: str) -> None:
    """Refuse a file of another kind, by its ending or by its first bytes, and say how its table can be read.

    Raises:
        InvalidInput: a spreadsheet, a typeset document, a picture or an archive.
    """
    kind = _ENDINGS.get(path.suffix.casefold()) or _begun(path)
    if kind is not None and path.is_file():
        raise InvalidInput(f"{name}: is {kind[0]}; expected CSV, TSV, JSON, Parquet, Markdown or HTML: {kind[1]}")


def _begun(path: Path) -> tuple[str, str] | None:
    """What the first bytes say; a spreadsheet is an archive that names its parts."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return None  # whoever reads the file says what is wrong with it
    if head.startswith(b"PK\x03\x04"):
        return _SHEET if b"[Content_Types].xml" in head or b"spreadsheet" in head else _PACKED
    return next((kind for mark, kind in _BEGINNINGS if head.startswith(mark)), None)


def refuse_drawn(text: str, name: str) -> None:
    """Refuse a table without any comma, semicolon, tab or bar in its header line, if it is drawn or set by blanks.

    Raises:
        InvalidInput: with the line, and what to put between the cells.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines()[:200], start=1) if line.strip()]
    number, header = lines[0]
    if _TEX.match(header):
        raise InvalidInput(
            f"{name} line {number}: {quoted(header.strip())} begins a LaTeX table; expected a header line of names: "
            "put commas for the &, and leave out \\\\ and the lines of commands"
        )
    if _DRAWN.match(header):
        raise InvalidInput(
            f"{name} line {number}: {quoted(header.strip())} is a drawn line; expected a header line of names with "
            "commas, tabs or bars between them: leave the drawn lines out"
        )
    if any(mark in header for mark in ",;\t|"):
        return
    apart = re.split(r" {2,}", header.strip())
    words = apart if len(apart) > 1 else header.split()
    others = [line for _, line in lines[1:]]
    if len(words) > 1 and others and all(len(line.split()) > 1 for line in others):
        raise InvalidInput(
            f"{name} line {number}: the columns ({quoted(' '.join(words))}) are set apart by blanks alone, which names "
            "hold as well; put a comma, a tab or a bar between the cells"
        )
