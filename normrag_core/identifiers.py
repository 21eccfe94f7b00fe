"""Numbers of standards as they are printed, and when two of them mean the same document.

Printed forms differ by spaces, dashes and the body's name ("ETSI EN 300 421", "EN300421", "3GPP TS 29.272", "CCITT
Recommendation X.25"); an id here has one form: no "ETSI ", plain spaces and hyphens ("EN 300 421", "3GPP TS 29.272",
"ITU-T X.25", "RFC 3261", "ISO/IEC 13818-1").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

D = "[-\u2010\u2011\u2012\u2013\u2212]"  # the hyphens that print as one
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
# "-1", "-2-3"; a hyphen at a line's end is followed by the line break.
_PARTS = rf"(?:{D}\s?\d{{1,3}}(?![\d\w])){{0,4}}"
_STOP = r"(?![\d\w])"
# What each body's numbers look like; groups 1, 2, ... are what `_id_of` puts an id together from.
_BODIES = {
    "etsi": rf"(?:(?:final\s)?draft\s)?(?:ETSI[\s/]+)?(?:pr)?(I{D}ETS|ETS|ETR|TBR|CTR|GTS|TCRTR|EN|ES|EG|TS|TR|SR)\s?"
    rf"(\d{{3}}\s?\d{{3}}{_PARTS}|(?<=TBR\s)\d{{1,3}}|(?<=CTR\s)\d{{1,3}}|(?<=ETR\s)\d{{3}}{_PARTS}){_STOP}",
    "group": rf"(?:ETSI\s)?(GS|GR)\s([A-Z][A-Z0-9]{{1,5}}(?:{D}[A-Z]{{2,5}})?)\s?(\d{{3,4}}{_PARTS})",
    "tgpp": rf"(?:ETSI\s)?(?:(?:3GPP\s)?(TS|TR)\s?|3GPP\s)(\d\d\.\d{{3}}{_PARTS}){_STOP}",
    "gsm": rf"(?:ETSI\s)?(?:(?:3GPP\s)?(?:GSM|TS)\s|GSM\sTS\s)(\d\d\.\d\d){_STOP}",
    "rfc": rf"(?:(?:IETF|ETSI)\s+){{0,2}}(?:RFC|Request\sfor\sComments)s?[\s-]?(\d{{2,5}}){_STOP}",
    "iso": r"(?:EN\s)?(ISO(?:/(?:IEC|IEEE|CIE|TS|TR|ASTM|IEC/IEEE))?|IEC|CISPR)(?:[\s/](?:IS|TR|TS|CD|DIS|FDIS|PAS|Guide))?"
    rf"\s?(\d{{2,5}}(?:\.\d{{1,2}}(?=/)|{_PARTS}))(?:\s?:\s?((?:19|20)\d\d)(?!\d))?{_STOP}",
    "itu": rf"((?:ITU{D}[TR]|CCITT|CCIR)\s(?:Recommendations?\s|Recs?\.?\s|Report\s)?|Recommendations?\s(?:ITU{D}[TR]\s)?"
    rf"|Rec\.\s(?:ITU{D}[TR]\s)?)([A-Z]{{1,4}}\.\s?\d{{1,4}}(?:\.\d{{1,3}})?(?:{D}\d{{1,2}}(?!\d))?)(?!\w)",
    "ieee": rf"IEEE\s(?:(?:Std\.?|Standards?|P)\s?)?(\d{{3,4}}(?:\.\d{{1,2}}[A-Za-z]{{0,2}})?)(?:{D}((?:19|20)\d\d))?{_STOP}",
    "law": r"(?:Commission\s|Council\s)?(?:Implementing\s|Delegated\s)?(Regulation|Directive|Decision|CI[RD])\s"
    r"(\((?:EU|Eu|EC|EEC)(?:,\sEuratom)?\)\s(?:No\.?\s)?\d{1,4}/\d{1,4}|(?:No\.?\s)?\d{2,4}/\d{1,4}(?:/(?:EC|EU|EEC|JHA))?)"
    rf"{_STOP}",
    "other": rf"(?:CENELEC\s|BS\s|DIN\s)?((?:EN|HD)\s\d{{4,5}}{_PARTS}{_STOP}|CEN/TS\s\d{{4,5}}{_PARTS}"
    rf"|ANSI(?:/[A-Z]+)?\s[A-Z]?\d[\d.]*\d|(?:ANSI/)?SCTE\s\d{{1,3}}{_PARTS}|SMPTE\s(?:ST\s|RP\s)?\d{{1,4}}M?{_PARTS}"
    r"|EBU\s(?:Tech\.?\s?|R\s?|BPN\s?)\d{2,4}|FIPS\s(?:PUB\s)?\d{2,3}(?:-\d)?|NIST\sSP\s\d{3}-\d{1,3}[A-Z]?"
    r"|CCSDS\s\d{3}\.\d{1,2}-[A-Z]-\d{1,2}|PKCS\s?#\d{1,2}|DVB\s(?:Blue\s?[Bb]ook\s|[Dd]ocument\s)A\d{2,3}(?:-\d)?"
    rf"|ATIS[\s-]\d{{7}}(?:\.\d+)*|oneM2M\sT[SR]-\d{{4}}|GSMA\s[A-Z]{{2,4}}\.\d{{1,3}}|BBF\sTR-\d{{3}}|ECMA{D}\d{{2,3}})",
}
_OF_BODY = {name: re.compile(pattern) for name, pattern in _BODIES.items()}
# "TS/TR 102 825" is neither the TS nor the TR.
_DOCUMENT = re.compile(
    r"(?<![\w-])(?<!T[SR]/)(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in _BODIES.items()) + ")"
)
_VERSION_AFTER = re.compile(
    rf"(?:\s?\(\s?|,?\s)(?P<version>[Vv](?:ersion)?\s?\.?\s?\d{{1,2}}\.\d{{1,2}}\.\d{{1,2}}"
    rf"|(?:{_MONTH}\s)?(?:19|20)\d\d(?:-\d\d)?|\d\d/(?:19|20)\d\d|[Ee]d(?:ition|\.)?\s?\d)(?:\s?\))?"
)
# Further numbers of a list: the form of the number, and the beginning of the ids it continues.
_CONTINUED = {
    re.compile(rf"(?:\s?,\s|\s(?:and|or|to|through)\s|\s?/\s?)({number})(?![\w]|\.\d)"): form
    for number, form in ((r"[A-Z]\.\d{1,4}", "ITU-T "), (r"\d\d\.\d{3}", "3GPP TS "), (r"-\d{1,2}", "EN "))
}
_ITU_R_SERIES = re.compile(r"(?:B[A-Z]|S[A-Z]+|TF|RA|RS)\.")


@dataclass(frozen=True, slots=True)
class Printed:
    """A document's number as it stands in `text[start:end]`, with the version or date printed behind it."""

    start: int
    end: int
    id: str
    version: str | None = None


def find_documents(text: str) -> Iterator[Printed]:
    """Every document number in the text, in order. The span holds the version where one is printed in it."""
    for match in _DOCUMENT.finditer(text):
        id_, version = _id_of(match.lastgroup or "", text, match.start())
        end = match.end()
        after = _VERSION_AFTER.match(text, end)
        if after and (after[0].lstrip()[:1] == "(") == (after[0][-1] == ")") and _is_version(after):
            version, end = tidy_version(after["version"]), after.end()
        yield Printed(match.start(), end, id_, version)
        yield from _continued(text, end, id_)


def _continued(text: str, at: int, id_: str) -> Iterator[Printed]:
    """The further numbers of "Recommendations H.221 and H.242", "TS 38.202 and 38.211", "EN 301 489-1 and -3"."""
    while True:
        for pattern, form in _CONTINUED.items():
            match = pattern.match(text, at)
            if match and id_.startswith(form):
                number = _plain(match[1])
                start, at = match.span(1)
                id_ = re.sub(r"-\d+$", "", id_) + number if number[0] == "-" else f"{form}{number}"
                yield Printed(start, at, id_)
                break
        else:
            return


def first_document(text: str) -> Printed | None:
    """The first document number in the text."""
    return next(find_documents(text), None)


def tidy_version(text: str) -> str:
    """ "V1.1.2" for all ways of writing it; other editions and dates as printed."""
    match = re.fullmatch(r"[Vv](?:ersion)?\s?\.?\s?0*(\d+)\.0*(\d+)\.0*(\d+)", text)
    return f"V{match[1]}.{match[2]}.{match[3]}" if match else re.sub(r"\s+", " ", text).strip()


@lru_cache(maxsize=10_000)
def canonical(id_: str) -> str:
    """One form for all names of a document: 3GPP TS 29.272 is published as ETSI TS 129 272, CCITT became ITU-T."""
    text = re.sub(r"\s+", " ", re.sub(D, "-", id_)).strip().upper().removeprefix("ETSI ").removeprefix("IETF ")
    match = re.fullmatch(r"(?:3GPP )?(TS|TR) (\d\d)\.(\d{3})((?:-\d+)*)", text)
    if match:
        return f"{match[1]} 1{match[2]} {match[3]}{match[4]}"
    return re.sub(r"^CCITT ", "ITU-T ", text).replace(") NO ", ") ")


def same_document(a: str, b: str) -> bool:
    """Whether two ids name one document."""
    return bool(a) and canonical(a) == canonical(b)


def _is_version(match: re.Match[str]) -> bool:
    # "EN 300 421 1997" is no edition, "EN 300 421 (1997)" is one, "EN 300 421 V1.1.2" too.
    return match["version"][:1] in "vV" or "(" in match[0]


def _id_of(body: str, text: str, start: int) -> tuple[str, str | None]:
    match = _OF_BODY[body].match(text, start)
    part = [p or "" for p in match.groups()] if match else [""] * 3
    year = None
    if body == "etsi":
        id_ = f"{_plain(part[0])} " + re.sub(r"^(\d{3})(\d{3})", r"\1 \2", _plain(part[1]))
    elif body == "group":
        id_ = f"{part[0]} {_plain(part[1])} {_plain(part[2])}"
    elif body == "tgpp":
        id_ = f"3GPP {part[0] or 'TS'} {_plain(part[1])}"
    elif body in ("gsm", "rfc"):
        id_ = f"{body.upper()} {part[0]}"
    elif body == "iso":
        id_, year = f"{part[0]} {_plain(part[1]).replace('.', '-')}", part[2] or None
    elif body == "itu":
        id_ = _itu(_plain(part[0]), _plain(part[1]).replace(" ", ""))
    elif body == "ieee":
        id_, year = f"IEEE {part[0]}", part[1] or None
    elif body == "law":
        kind = {"CIR": "Regulation", "CID": "Decision"}.get(part[0], part[0])
        id_ = f"{kind} {_plain(part[1])}".replace("(Eu)", "(EU)")
    else:
        id_ = _plain(part[0])
    return id_, year


def _itu(name: str, number: str) -> str:
    """The sector as printed, else the one whose series it is."""
    if "ITU-R" in name or "CCIR" in name:
        return f"ITU-R {number}"
    if "ITU-T" in name or "CCITT" in name or not _ITU_R_SERIES.match(number):
        return f"ITU-T {number}"
    return f"ITU-R {number}"


def _plain(text: str) -> str:
    return re.sub(rf"{D}\s?", "-", re.sub(r"\s+", " ", text))
