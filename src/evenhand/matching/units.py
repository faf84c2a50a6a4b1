"""Units that change what a number is worth: the metric ones, time, money, angles. Other words after a number are names.

`54 tiles` names what is counted and is 54; `54 cm` is a length, and `54 thousand` another number.
"""

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["SCALES", "Unit", "unit_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One unit.

    Args:
        dimension: units of one dimension convert into each other; `name` where a word is no known unit.
        factor: its size in the dimension's base unit.
    """

    dimension: str
    factor: Fraction = Fraction(1)


SCALES = {
    "hundred": 100, "thousand": 1_000, "thousands": 1_000, "million": 10**6, "millions": 10**6, "mio": 10**6,
    "billion": 10**9, "billions": 10**9, "bn": 10**9, "trillion": 10**12, "trillions": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12, "dozens": 12,
}  # fmt: skip

# dimension: factor in base units: how it is written. `m`, `K` and the like hold in this case only.
_TABLE: dict[str, dict[str, str]] = {
    "length": {
        "1/1000000000": "nm nanometer nanometers nanometre nanometres",
        "1/1000000": "μm micrometer micrometers micrometre micrometres micron microns",
        "1/1000": "mm millimeter millimeters millimetre millimetres",
        "1/100": "cm centimeter centimeters centimetre centimetres",
        "1/10": "dm decimeter decimeters decimetre decimetres",
        "1": "m meter meters metre metres",
        "1000": "km kilometer kilometers kilometre kilometres",
        "254/10000": "inch inches",
        "3048/10000": "ft foot feet",
        "9144/10000": "yd yard yards",
        "1609344/1000": "mi mile miles",
    },
    "area": {
        "1/1000000": "mm^2 mm^{2}", "1/10000": "cm^2 cm^{2} sqcm", "1": "m^2 m^{2} sqm", "1000000": "km^2 km^{2}",
        "10000": "ha hectare hectares", "9290304/100000000": "ft^2 ft^{2} sqft", "64516/100000000": "in^2 in^{2}",
    },
    "volume": {
        "1/1000": "ml mL milliliter milliliters millilitre millilitres cm^3 cm^{3}",
        "1/100": "cl cL", "1/10": "dl dL", "1": "l L liter liters litre litres dm^3 dm^{3}", "1000": "m^3 m^{3}",
    },
    "mass": {
        "1/1000": "mg milligram milligrams", "1": "g gram grams", "1000": "kg kilogram kilograms kilo kilos",
        "1000000": "t ton tons tonne tonnes", "45359237/100000": "lb lbs pound_mass",
        "45359237/1600000": "oz ounce ounces",
    },
    "time": {
        "1/1000": "ms millisecond milliseconds", "1": "s sec secs second seconds", "60": "min mins minute minutes",
        "3600": "h hr hrs hour hours", "86400": "d day days", "604800": "week weeks wk wks",
    },
    "morning": {"1": "am AM a.m A.M"}, "afternoon": {"1": "pm PM p.m P.M"},
    "calendar": {"1": "month months", "12": "year years yr yrs"},
    "speed": {"1": "m/s", "1000/3600": "km/h kph kmh", "1609344/3600000": "mph"},
    "angle": {"1": "° degree degrees deg", "1/60": "arcmin", "1/3600": "arcsec"},
    "radian": {"1": "rad radian radians"},
    "celsius": {"1": "°C"},
    "fahrenheit": {"1": "°F"},
    "kelvin": {"1": "kelvin kelvins K"},
    "AUD": {"1": "A$ AU$ AUD"}, "CAD": {"1": "C$ CA$ CAD"}, "NZD": {"1": "NZ$ NZD"}, "HKD": {"1": "HK$ HKD"},
    "SGD": {"1": "S$ SG$ SGD"}, "MXN": {"1": "MX$ MXN"}, "TWD": {"1": "NT$ TWD"}, "BRL": {"1": "R$ BRL"},
    "USD": {"1": "$ US$ dollar dollars USD usd bucks", "1/100": "cent cents ¢"},
    "EUR": {"1": "€ euro euros EUR eur", "1/100": "eurocent eurocents"},
    "GBP": {"1": "£ GBP gbp quid", "1/100": "pence"},
    "JPY": {"1": "¥ yen JPY"},
    "INR": {"1": "₹ rupee rupees INR", "1/100": "paise"},
    "pound": {"1": "pound pounds"},
    "digital": {"1": "byte bytes B", "1000": "kB KB kilobyte kilobytes", "1000000": "MB megabyte megabytes",
                "1000000000": "GB gigabyte gigabytes", "1/8": "bit bits"},
    "energy": {
        "1": "J joule joules", "1000": "kJ kilojoule kilojoules", "1000000": "MJ", "3600000": "kWh", "4184/1000": "cal",
        "4184": "kcal",
    },
    "particle energy": {"1": "eV", "1000": "keV", "1000000": "MeV", "1000000000": "GeV"},
    "power": {
        "1/1000": "mW", "1": "W watt watts", "1000": "kW kilowatt kilowatts", "1000000": "MW", "1000000000": "GW",
    },
    "frequency": {"1": "Hz hertz", "1000": "kHz", "1000000": "MHz", "1000000000": "GHz"},
    "voltage": {"1/1000": "mV", "1": "V volt volts", "1000": "kV"},
    "current": {"1/1000": "mA", "1": "A amp amps ampere amperes"},
    "force": {"1": "N newton newtons", "1000": "kN"},
    "pressure": {"1": "Pa pascal pascals", "1000": "kPa", "1000000": "MPa", "100000": "bar", "101325": "atm"},
    "amount": {"1/1000": "mmol", "1": "mol mole moles"},
    "before our era": {"1": "BC BCE"}, "our era": {"1": "AD CE"},
    "light years": {"1": "light-year light-years lightyear lightyears"},
    "nautical miles": {"1": "nmi"},
}  # fmt: skip
_UNITS = {
    name: Unit(dimension=dimension, factor=Fraction(factor))
    for dimension, rows in _TABLE.items()
    for factor, names in rows.items()
    for name in names.split()
}
_LONG = {name.casefold(): unit for name, unit in _UNITS.items() if len(name) > 3 and name.isalpha()}
_POWERS = {"square": ("area", 2), "sq": ("area", 2), "cubic": ("volume", 3)}


def unit_of(words: str) -> Unit | None:
    """The unit that some words after a number name, or None for no known unit.

    A unit per another one has both in its dimension: `miles per hour` converts to `km/h`. Words that are no unit are
    passed over, so that `18 whole dollars` is money; `per` something unknown is passed over with it.

    >>> unit_of("cm").factor, unit_of("full hours").dimension, unit_of("tiles"), unit_of("miles per hour").dimension
    (Fraction(1, 100), 'time', None, 'speed')
    """
    listed = words.replace(" per ", " / ").split()[:12]
    for at, word in enumerate(listed):
        if word == "/" or word.casefold().strip(".") in _OTHERS:
            return None
        unit = _squared(word, listed[at + 1 : at + 2]) or _known(word)
        if unit is not None:
            below = listed[at + 2] if listed[at + 1 : at + 2] == ["/"] and len(listed) > at + 2 else ""
            return _ratio(unit, _known(below)) if below else unit
    return None


# before a unit they make another one: a light year is no time, a fluid ounce no mass
_OTHERS = frozenset(("light", "nautical", "fluid", "fl", "troy", "man", "person", "watt", "kilowatt", "board", "short"))


def _known(word: str) -> Unit | None:
    word = word.strip(".,;:!?()")
    found = _UNITS.get(word) or _LONG.get(word.casefold())
    if found is None and "/" in word:
        above, _, below = word.partition("/")
        top, bottom = _known(above), _known(below)
        return None if top is None else _ratio(top, bottom)
    return found


def _squared(word: str, following: list[str]) -> Unit | None:
    """`square meters` and `cubic cm`."""
    power = _POWERS.get(word.casefold().strip("."))
    base = _known(following[0]) if power and following else None
    if power is None or base is None or base.dimension != "length":
        return None
    litres = 1000 if power[1] == 3 else 1  # the base of volume is the litre
    return Unit(dimension=power[0], factor=base.factor ** power[1] * litres)


def _ratio(above: Unit, below: Unit | None) -> Unit:
    if below is None:
        return above
    if (above.dimension, below.dimension) == ("length", "time"):
        return Unit(dimension="speed", factor=above.factor / below.factor)
    return Unit(dimension=f"{above.dimension}/{below.dimension}", factor=above.factor / below.factor)
