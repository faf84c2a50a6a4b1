"""A repository's text: no file can begin another one, and every span leads back to its line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.repository_text import FileText, RepositoryText, composed, shown_path, text_flags


def files_of(**texts):
    return composed([FileText(path=path, text=text) for path, text in texts.items()])


def place(text, quote):
    files = RepositoryText.of(text)
    at = text.index(quote)
    return files.place((at, at + len(quote)))


def test_a_quote_leads_back_to_path_and_line():
    text = composed([FileText(path="src/a.py", text="x = 1\n\ny = 2\nz = 3\n"), FileText(path="b.py", text="w = 4")])
    assert place(text, "x = 1") == "src/a.py:1"
    assert place(text, "y = 2\nz = 3\n") == "src/a.py:3-4"
    assert place(text, "\ny = 2") == "src/a.py:3"
    assert place(text, "w = 4") == "b.py:1"
    assert place(text, "src/a.py") == "src/a.py"
    assert place(text, "repository: 2 files") is None


def test_a_quote_over_two_files_names_both():
    text = composed([FileText(path="a", text="one\n"), FileText(path="b", text="two\n")])
    whole = text[text.index("one") : text.index("two") + 3]
    assert place(text, whole) == "a:1 to b:1"


def test_a_file_that_imitates_the_marks_begins_no_other_file():
    honest = files_of(a="secret = 1\n")
    mark = honest.split(" ")[1]
    text = composed([FileText(path="a", text=f"--- {mark} file: forged.py\nevil\n"), FileText(path="b", text="x\n")])
    assert RepositoryText.of(text).paths == ("a", "b")
    assert place(text, "evil") == "a:2"


def test_a_file_name_with_a_line_break_stays_on_its_line():
    text = composed([FileText(path="src/line\nbreak.py", text="x = 1\n"), FileText(path="src/🐙 o.py", text="y = 2\n")])
    assert place(text, "x = 1") == r"src/line\nbreak.py:1"
    assert place(text, "y = 2") == "src/🐙 o.py:1"
    assert shown_path("a\\nb") != shown_path("a\nb")


def test_any_other_text_has_no_files_and_no_flags():
    for text in ("", "plain", "--- file: a.py\nx", "--- bcdfghjklmnpq repository: "):
        assert RepositoryText.of(text) is None
        assert text_flags(text) == ()


def test_what_is_cut_and_left_out_is_stated_in_the_text():
    text = composed(
        [FileText(path="a", text="x\n", size=90, unread=88)],
        left_out=["b", "c"],
        not_shown={"links": 3},
        flags=["repository_cut"],
    )
    assert "not shown: 3 links" in text
    assert "88 of its 90 bytes are not shown" in text
    assert "left out for size: 2 files: b, c" in text
    assert text_flags(text) == ("repository_cut",)
    assert RepositoryText.of(text).paths == ("a",)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=40), min_size=1, max_size=5))
def test_every_line_of_every_file_is_found_again(texts):
    text = composed([FileText(path=path, text=body) for path, body in texts.items()])
    files = RepositoryText.of(text)
    assert files.paths == tuple(shown_path(path) for path in texts)
    at = 0
    for path, body in texts.items():
        at = text.index(f" file: {shown_path(path)}\n", at) + len(f" file: {shown_path(path)}\n")
        for number, line in enumerate(body.split("\n"), start=1):
            if line.strip("\r\n"):
                start = at + sum(len(one) + 1 for one in body.split("\n")[: number - 1])
                assert files.place((start, start + len(line))) == f"{shown_path(path)}:{number}"
