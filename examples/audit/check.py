"""Two checkers of an answer: one that looks for the right number anywhere, and one that wants it alone."""

import re


def contains(candidate: str, item: dict[str, str]) -> bool:
    """Weak: any answer that mentions the right number passes."""
    return item["reference"] in candidate


def only_number(candidate: str, item: dict[str, str]) -> bool:
    """Exactly one number stands in the answer, and it is the right one."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", candidate)
    return len(set(numbers)) == 1 and float(numbers[0]) == float(item["reference"])
