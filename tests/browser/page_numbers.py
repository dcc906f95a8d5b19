"""Numbers that a page shows, against those of results.json.

An element with data-field="metrics.p99_ttft_ms" shows that field: data-value is the number as it stands in the file, the text
is the same number rounded, perhaps in another unit. Both are checked.
"""

import math
import re

# From the unit of a field to units that people read: thousands up and down, parts of 1 as per cent, ms as s, bytes as KiB ...,
# seconds as minutes or hours.
FACTORS = [1, 1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 1e12, 1e-12, 1 / 60, 1 / 3600, 60, 3600, 1 / 1024, 1 / 1024**2, 1 / 1024**3]
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def field_of(results, path):
    """results["pools"][0]["steps"] for "pools.0.steps"; KeyError or IndexError where there is no such field."""
    at = results
    for part in path.split("."):
        at = at[int(part)] if isinstance(at, list) else at[part]
    return at


def shows(text, value):
    """Whether the first number of the text is the value, rounded to the digits shown."""
    match = NUMBER.search(text)
    if match is None:
        return False
    digits = match[0].replace(",", "")
    shown = float(digits)
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    # Half a unit of the last digit. 1,000 may be 1,000 rounded to tens: three digits are always said.
    unit = 10.0 ** (int(exponent or 0) - decimals)
    if decimals == 0 and shown != 0:
        unit = max(unit, 10.0 ** (math.floor(math.log10(abs(shown))) - 2))
    factors = [100.0] if "%" in text else FACTORS
    return any(abs(abs(shown) - abs(value) * factor) <= 0.5000001 * unit for factor in factors) and (
        shown * value >= 0 or shown == 0)


def mismatches(traced, results):
    """Sentences on what does not agree; `traced` has (field, value, text)."""
    for field, value, text in traced:
        try:
            expected = field_of(results, field)
        except (KeyError, IndexError, ValueError, TypeError):
            yield f"{field}: results.json has no such field"
            continue
        if not isinstance(expected, (int, float)) or isinstance(expected, bool):
            yield f"{field}: in results.json it is {expected!r}, no number"
        elif float(value) != float(expected):
            yield f"{field}: the page has {value}, results.json {expected}"
        elif not shows(text, float(value)):
            yield f'{field}: the page shows "{text.strip()}" for {value}'
