"""Tables of printed cells: what each print leaves open."""

import numpy as np
import pytest

from evenhand.composite.table import Table, printed_decimals
from evenhand.errors import InvalidInput


def widths(*texts, exact=False):
    table = Table.of_texts({"a": texts})
    return (table.declared(exact=["a"]) if exact else table).column("a").half_widths().tolist()


@pytest.mark.parametrize(
    ("texts", "half"),
    [
        (["62.5", "7.0"], [0.05, 0.05]),
        (["62", "7"], [0.5, 0.5]),
        (["4.62", "5", "4.9"], [0.005, 0.005, 0.005]),  # zeros dropped
        (["4.60", "5", "4.9"], [0.005, 0.5, 0.05]),  # zeros kept, so the decimals are mixed
        (["12.1"] * 20 + ["63.77"] * 2, [0.05] * 20 + [0.005] * 2),
        (["0.2841172533", "0.02341389728"], [5e-11, 5e-12]),  # ten significant digits
        (["1335.205733", "15293.32651"], [5e-7, 5e-6]),
        (["98.29962029838433", "8.5"], [5e-14, 5e-14]),
        (["1.2e3", "3.4e3"], [50, 50]),
        (["1.5", "n/a", "", "inf"], [0.05, 0, 0, 0]),
        (["0", "0"], [0.5, 0.5]),
    ],
)
def test_half_a_unit_in_the_last_place_is_open(texts, half):
    assert widths(*texts) == pytest.approx(half)
    assert widths(*texts, exact=True) == [0] * len(texts)


def test_a_part_of_a_table_keeps_the_widths_and_numbers_of_the_whole():
    table = Table.of_texts({"a": ["4.62", "5", "6"]}, names=["x", "y", "z"])
    part = table.where(np.array([False, True, True]))
    assert (part.names, part.rows, part.n_rows) == (("y", "z"), (2, 3), 2)
    assert part.column("a").half_widths().tolist() == [0.005, 0.005]
    assert part.column("a").texts == ("5", "6")


def test_a_frame_is_read_without_pandas():
    class Frame(dict):
        columns = ("m", "a")

    table = Table.of_frame(Frame(m=["x", "y"], a=[52.0, None]), name="m")
    assert (table.names, table.column("a").texts) == (("x", "y"), ("52", ""))
    assert table.column("a").half_widths().tolist() == [0.5, 0]
    assert Table.of_frame(Frame(m=["x"], a=[1])).names == ("1",)
    with pytest.raises(InvalidInput, match="no column `A` to name the rows; did you mean `a`"):
        Table.of_frame(Frame(m=["x"], a=[1]), name="A")


def test_a_data_frame_may_hold_short_floats_and_gaps_of_every_kind():
    class Gap:
        def __ne__(self, other):
            return self

        def __bool__(self):
            raise TypeError("boolean value of NA is ambiguous")

        def __repr__(self):
            return "<NA>"

    class Frame(dict):
        columns = ("a", "b")

    table = Table.of_frame(Frame(a=[np.float32(0.1), np.float32(52)], b=[Gap(), np.float64("nan")]))
    assert table.column("a").texts == ("0.1", "52")
    assert table.column("b").texts == ("", "")


def test_numbers_are_plain_and_infinities_are_read():
    values = Table.of_texts({"a": ["-Infinity", "+inf", "1e400", "0x10", "1_000", " 5 ", "٣"]}).column("a").values
    assert values.tolist()[:3] == [-np.inf, np.inf, np.inf]
    assert np.isnan(values[3:5]).all()
    assert values[5] == 5
    assert printed_decimals(".5") == 1
    assert printed_decimals(".") is None


def test_unequal_columns_and_unknown_names_are_refused():
    with pytest.raises(InvalidInput, match="expected one length"):
        Table.of_texts({"a": ["1"], "b": ["1", "2"]})
    with pytest.raises(InvalidInput, match="did you mean `speed`"):
        Table.of_texts({"speed": ["1"]}).column("sped")
    with pytest.raises(InvalidInput, match=r"no column sp\\x1bed"):
        Table.of_texts({"speed": ["1"]}).column("sp\x1bed")
