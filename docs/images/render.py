"""A terminal's text as an SVG picture, for the README.

    build/demo output | python docs/images/render.py "make demo" > docs/images/demo.svg

The picture asks the network for nothing and names no font but the reader's own monospace one.
"""

import sys
from html import escape

WIDTH, LINE, LEFT, TOP = 8.4, 19, 18, 62


def picture(title: str, lines: list[str]) -> str:
    """The SVG: a dark window with a title bar, one text element a line."""
    columns = max(80, *(len(line) for line in lines))
    width, height = round(columns * WIDTH + 2 * LEFT), TOP + LINE * len(lines) + 8
    rows = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * number}" xml:space="preserve">{escape(line)}</text>'
        for number, line in enumerate(lines)
        if line.strip()
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{escape(title)}</title>
<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dde4}}.t{{fill:#8b97a5}}</style>
<rect width="{width}" height="{height}" rx="8" fill="#14181d"/>
<circle cx="20" cy="20" r="5.5" fill="#e0645c"/><circle cx="38" cy="20" r="5.5" fill="#e2b04a"/>
<circle cx="56" cy="20" r="5.5" fill="#5fae5b"/>
<text class="t" x="80" y="25">{escape(title)}</text>
{rows}
</svg>
"""


if __name__ == "__main__":
    sys.stdout.write(picture(sys.argv[1], [line.rstrip("\n") for line in sys.stdin]))
