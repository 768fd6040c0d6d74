"""Words in column names and labels that indicate the kind of a column or the order of labels."""

from __future__ import annotations

import re
from typing import Final

# --- words in column names

ID_WORDS: Final = {
    *("id", "ids", "identifier", "key", "uuid", "guid", "nr", "no", "num", "number", "nummer", "index", "idx"),
    *("ssn", "iban", "isbn", "sku", "serial", "rowid", "pk", "unnamed", "record", "case", "customerid"),
}
NOT_ID_WORDS: Final = {"of", "count", "total", "num", "avg", "mean", "price", "refractive", "body", "mass", "n"}
NUMBERED_THINGS: Final = {
    *("account", "konto", "phone", "telephone", "telefon", "tel", "mobile", "fax", "invoice", "passport", "customer"),
    *("client", "patient", "user", "member", "imei", "vin", "ean", "barcode"),
}
"""Things identified by numbers: a column of such a name with large distinct numbers is an identifier."""
CODE_NAMES: Final = {
    *("code", "zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "fips", "iso", "icd", "type"),
}
SCALE_NAMES: Final = {
    *("rating", "stars", "grade", "grades", "note", "satisfaction", "likert", "rank", "severity", "priority"),
    *("agreement", "level", "stage", "tier", "quality", "pain", "importance", "birads", "opinion"),
}
INTERVAL_NAMES: Final = {
    *("temperature", "temp", "celsius", "fahrenheit", "iq", "latitude", "longitude", "lat", "lon", "lng", "ph"),
    *("longitud", "latitud", "temperatur", "zscore", "logit", "azimuth", "timezone", "dewpoint"),
}
COUNT_NAMES: Final = {
    *("n", "of", "count", "counts", "num", "number", "anzahl", "rooms", "children", "persons", "members", "people"),
    *("doors", "cylinders", "bedrooms", "bathrooms", "visits", "times", "siblings", "kids", "floors"),
}

# --- labels from low to high; a column is ordinal if all its labels are on one line
LABEL_ORDERS: Final = tuple(
    tuple(line.casefold().split("|"))  # casefold, as when comparing labels: groß as gross
    for line in (
        "xxs|extra extra small|xs|extra small|tiny|s|small|m|med|medium|l|large|big|xl|extra large|huge|xxl|xxxl",
        "none|very low|low|mid|middle|medium|moderate|high|very high|extreme",
        "very low|low|below normal|normal|above normal|high|very high",
        "below average|average|above average",
        "underweight|normal|overweight|obese|severely obese",
        "trivial|minor|moderate|major|critical|blocker",
        "small|med|medium|high|big|vhigh",
        "low|med|medium|high|vhigh",
        "never|rarely|seldom|occasionally|sometimes|often|frequently|usually|very often|always",
        "strongly disagree|disagree|somewhat disagree|neutral|neither agree nor disagree|undecided|somewhat agree"
        "|agree|strongly agree",
        "very dissatisfied|dissatisfied|unsatisfied|neutral|satisfied|very satisfied",
        "terrible|awful|very bad|very poor|bad|poor|below average|fair|ok|okay|average|acceptable|good|very good"
        "|excellent|outstanding|perfect",
        "fail|insufficient|failed|deficient|poor|sufficient|pass|satisfactory|good|very good|merit|distinction"
        "|excellent",
        "unacc|acc|good|vgood",
        "f|e|d-|d|d+|c-|c|c+|b-|b|b+|a-|a|a+",
        "none|primary|elementary|preschool|basic|secondary|high school|hs-grad|some college|college|associate"
        "|undergraduate|bachelor|bachelors|graduate|tertiary|master|masters|phd|doctorate",
        "absent|none|trace|minimal|mild|slight|moderate|marked|severe|critical|very severe",
        "cold|cool|mild|warm|hot",
        "freshman|sophomore|junior|senior",
        "trainee|junior|intermediate|mid|senior|lead|principal|director",
        "beginner|novice|basic|intermediate|advanced|expert",
        "bronze|silver|gold|platinum|diamond",
        "third|second|first",
        "3rd|2nd|1st",
        "i|ii|iii|iv|v|vi|vii",
        "child|teenager|adolescent|young|adult|middle-aged|elderly|senior",
        "mon|tue|wed|thu|fri|sat|sun",
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
        "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
        "january|february|march|april|may|june|july|august|september|october|november|december",
        "klein|mittel|groß",
        "niedrig|mittel|hoch",
        "gering|mittel|hoch",
        "ungenügend|mangelhaft|ausreichend|befriedigend|gut|sehr gut",
        "nie|selten|manchmal|oft|immer",
        "pequeño|mediano|grande",
        "petit|moyen|grand",
    )
)

# --- labels that may mean missing

UNKNOWN_LABELS: Final = {
    "unknown",
    "unk",
    "not known",
    "unspecified",
    "undefined",
    "not recorded",
    "not stated",
    "unbekannt",
}

# --- words in names of columns that are known only after the target

POST_OUTCOME_WORDS: Final = {
    *("duration", "dauer", "outcome", "result", "resolution", "resolved", "closed", "closing", "settled", "settlement"),
    *("discharge", "recovered", "recovery", "recoveries", "repaid", "refund", "refunded", "cancelled", "cancellation"),
    *("churned", "defaulted", "chargeoff", "final", "after", "post", "followup", "survival", "treatment", "ended"),
}


def name_words(name: str) -> set[str]:
    """Words of a column name in lower case.

    >>> sorted(name_words("customerNo_2"))
    ['2', 'customer', 'no']
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return {word for word in re.split(r"[\W_]+", spaced.lower()) if word}


def is_number(text: str) -> bool:
    """Whether a text can be parsed as a number.

    >>> is_number("-1e3"), is_number("5more")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_id_name(name: str) -> bool:
    """Whether a column is named like an identifier: customer number, patient_id, rowid."""
    words = name_words(name)
    return (bool(words & ID_WORDS) and not words & NOT_ID_WORDS) or bool(re.search(r"[a-z]ID$|^ID|(?<![a-z])id$", name))
