"""Numbers of standards as they are printed, and when two of them mean the same document.

Printed forms differ by spaces, dashes and the body's name ("ETSI EN 300 421", "EN300421", "3GPP TS 29.272", "CCITT
Recommendation X.25"); an id here has one form: no "ETSI ", plain spaces and hyphens ("EN 300 421", "3GPP TS 29.272",
"ITU-T X.25", "RFC 3261", "ISO/IEC 13818-1").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

D = "[-\u2010\u2011\u2012\u2013\u2212]"  # the hyphens that print as one
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
# Full parts: "-1", "-2-3"; a hyphen at a line's end is followed by the line break.
_PARTS = rf"(?:{D}\s?\d{{1,3}}(?![\d\w])){{0,4}}"
_ETSI = (
    rf"(?:(?:(?:final\s)?draft\s)?(?:ETSI[\s/]+)?(?:pr)?(?P<etsi>I{D}ETS|ETS|ETR|TBR|CTR|GTS|TCRTR|EN|ES|EG|TS|TR|SR)"
    rf"\s?(?P<etsi_number>\d{{3}}\s?\d{{3}}{_PARTS}|(?<=TBR\s)\d{{1,3}}|(?<=CTR\s)\d{{1,3}}|(?<=ETR\s)\d{{3}}{_PARTS})(?![\d\w]))"
)
_GROUP = (
    rf"(?:(?:ETSI\s)?(?P<group>GS|GR)\s(?P<group_name>[A-Z][A-Z0-9]{{1,5}}(?:{D}[A-Z]{{2,5}})?)"
    rf"\s?(?P<group_number>\d{{3,4}}{_PARTS}))"
)
_3GPP = rf"(?:(?:ETSI\s)?(?:(?:3GPP\s)?(?P<tgpp>TS|TR)\s?|3GPP\s)(?P<tgpp_number>\d\d\.\d{{3}}{_PARTS})(?![\d\w]))"
_GSM = r"(?:(?:ETSI\s)?(?:(?:3GPP\s)?(?:GSM|TS)\s|GSM\sTS\s)(?P<gsm>\d\d\.\d\d)(?![\d\w]))"
_RFC = r"(?:(?:(?:IETF|ETSI)\s+){0,2}(?:RFC|Request\sfor\sComments)s?[\s-]?(?P<rfc>\d{2,5})(?![\d\w]))"
_ISO = (
    rf"(?:(?:EN\s)?(?P<iso>ISO(?:/(?:IEC|IEEE|CIE|TS|TR|ASTM|IEC/IEEE))?|IEC|CISPR)(?:[\s/](?:IS|TR|TS|CD|DIS|FDIS|PAS|Guide))?"
    rf"\s?(?P<iso_number>\d{{2,5}}(?:\.\d{{1,2}}(?=/)|{_PARTS}))(?:\s?:\s?(?P<iso_year>(?:19|20)\d\d)(?!\d))?(?![\d\w]))"
)
_ITU = (
    rf"(?:(?P<itu>(?:ITU{D}[TR]|CCITT|CCIR)\s(?:Recommendations?\s|Recs?\.?\s|Report\s)?|Recommendations?\s(?:ITU{D}[TR]\s)?"
    rf"|Rec\.\s(?:ITU{D}[TR]\s)?)(?P<itu_number>[A-Z]{{1,4}}\.\s?\d{{1,4}}(?:\.\d{{1,3}})?(?:{D}\d{{1,2}}(?!\d))?)(?!\w))"
)
_IEEE = (
    r"(?:IEEE\s(?:(?:Std\.?|Standards?|P)\s?)?"
    rf"(?P<ieee>\d{{3,4}}(?:\.\d{{1,2}}[A-Za-z]{{0,2}})?)(?:{D}(?P<ieee_year>(?:19|20)\d\d))?(?![\d\w]))"
)
_LAW = (
    r"(?:(?:Commission\s|Council\s)?(?:Implementing\s|Delegated\s)?(?P<law>Regulation|Directive|Decision|CI[RD])\s"
    r"(?P<law_number>\((?:EU|Eu|EC|EEC)(?:,\sEuratom)?\)\s(?:No\.?\s)?\d{1,4}/\d{1,4}|(?:No\.?\s)?\d{2,4}/\d{1,4}(?:/(?:EC|EU|EEC|JHA))?)(?![\d\w]))"
)
_OTHER = (
    rf"(?P<other>(?:CENELEC\s|BS\s|DIN\s)?(?:EN|HD)\s\d{{4,5}}{_PARTS}(?![\d\w])|CEN/TS\s\d{{4,5}}{_PARTS}|ANSI(?:/[A-Z]+)?\s[A-Z]?\d[\d.]*\d"
    rf"|(?:ANSI/)?SCTE\s\d{{1,3}}{_PARTS}|SMPTE\s(?:ST\s|RP\s)?\d{{1,4}}M?{_PARTS}|EBU\s(?:Tech\.?\s?|R\s?|BPN\s?)\d{{2,4}}"
    rf"|FIPS\s(?:PUB\s)?\d{{2,3}}(?:-\d)?|NIST\sSP\s\d{{3}}-\d{{1,3}}[A-Z]?|CCSDS\s\d{{3}}\.\d{{1,2}}-[A-Z]-\d{{1,2}}|PKCS\s?#\d{{1,2}}"
    rf"|DVB\s(?:Blue\s?[Bb]ook\s|[Dd]ocument\s)A\d{{2,3}}(?:-\d)?|ATIS[\s-]\d{{7}}(?:\.\d+)*|oneM2M\sT[SR]-\d{{4}}|GSMA\s[A-Z]{{2,4}}\.\d{{1,3}}|BBF\sTR-\d{{3}}|ECMA{D}\d{{2,3}})"
)
_VERSION = (
    rf"(?:\s?\(\s?|,?\s)(?P<version>[Vv](?:ersion)?\s?\.?\s?\d{{1,2}}\.\d{{1,2}}\.\d{{1,2}}|(?:{_MONTH}\s)?(?:19|20)\d\d(?:-\d\d)?"
    rf"|\d\d/(?:19|20)\d\d|[Ee]d(?:ition|\.)?\s?\d)(?:\s?\))?"
)
_CONTINUED = {
    r"[A-Z]\.\d{1,4}": "ITU-T ",
    r"\d\d\.\d{3}": "3GPP TS ",
    r"-\d{1,2}": "EN ",
}
_VERSION_AFTER = re.compile(_VERSION)
_DOCUMENT = re.compile(rf"(?<![\w-])(?<!T[SR]/)(?:{_ETSI}|{_GROUP}|{_3GPP}|{_GSM}|{_RFC}|{_ISO}|{_ITU}|{_IEEE}|{_LAW}|{_OTHER})")
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
        id_, version = _id_of(match)
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
            match = re.match(rf"(?:\s?,\s|\s(?:and|or|to|through)\s|\s?/\s?)({pattern})(?![\w]|\.\d)", text[at : at + 40])
            if match and id_.startswith(form):
                number = _plain(match[1])
                start, at = at + match.start(1), at + match.end(1)
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


def canonical(id_: str) -> str:
    """One form for all names of a document: 3GPP TS 29.272 is published as ETSI TS 129 272, CCITT became ITU-T."""
    text = re.sub(r"\s+", " ", re.sub(D, "-", id_)).strip().upper().removeprefix("ETSI ").removeprefix("IETF ")
    match = re.fullmatch(r"(?:3GPP )?(TS|TR) (\d\d)\.(\d{3})((?:-\d+)*)", text)
    if match:
        return f"{match[1]} 1{match[2]} {match[3]}{match[4]}"
    return re.sub(r"^CCITT ", "ITU-T ", text)


def same_document(a: str, b: str) -> bool:
    """Whether two ids name one document."""
    return bool(a) and canonical(a) == canonical(b)


def _is_version(match: re.Match[str]) -> bool:
    # "EN 300 421 1997" is no edition, "EN 300 421 (1997)" is one, "EN 300 421 V1.1.2" too.
    return match["version"][:1] in "vV" or "(" in match[0]


def _id_of(match: re.Match[str]) -> tuple[str, str | None]:
    part: dict[str, Any] = match.groupdict()
    if part["etsi"]:
        number = re.sub(r"^(\d{3})(\d{3})", r"\1 \2", _plain(part["etsi_number"]))
        return f"{_plain(part['etsi'])} {number}", None
    if part["group"]:
        return f"{part['group']} {_plain(part['group_name'])} {_plain(part['group_number'])}", None
    if part["tgpp_number"]:
        return f"3GPP {part['tgpp'] or 'TS'} {_plain(part['tgpp_number'])}", None
    if part["gsm"]:
        return f"GSM {part['gsm']}", None
    if part["rfc"]:
        return f"RFC {part['rfc']}", None
    if part["iso"]:
        return f"{part['iso']} {_plain(part['iso_number']).replace('.', '-')}", part["iso_year"]
    if part["itu"]:
        number = _plain(part["itu_number"]).replace(" ", "")
        radio = "R" in re.sub(r"Re[a-z]+", "", part["itu"]) or ("ITU" not in part["itu"] and _ITU_R_SERIES.match(number))
        radio = radio and "ITU-T" not in _plain(part["itu"]) and "CCITT" not in part["itu"]
        return f"ITU-{'R' if radio else 'T'} {number}", None
    if part["ieee"]:
        return f"IEEE {part['ieee']}", part["ieee_year"]
    if part["law"]:
        kind = {"CIR": "Regulation", "CID": "Decision"}.get(part["law"], part["law"])
        return f"{kind} {_plain(part['law_number'])}", None
    return re.sub(r"^(?:CENELEC|BS|DIN) ", "", _plain(part["other"])), None


def _plain(text: str) -> str:
    return re.sub(rf"{D}\s?", "-", re.sub(r"\s+", " ", text))
