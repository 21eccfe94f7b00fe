"""Which standard a file is: number, version, date and title.

Sources in order of trust: the running header (most pages agree), the cover, the PDF's metadata, the file name. File names
lie ("...v01.07.01..." holds V1.4.1) and covers are scrambled by their artwork, so each only fills what the better ones lack.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from normrag_core.ingest.layout import Page, PageLine

_TYPE = r"(?:I-ETS|ETS|ETR|TBR|GTS|TCRTR|EN|ES|EG|TS|TR|SR|GS|GR)"
_NUMBER = (
    r"(?:\d{3} ?\d{3}(?:-\d{1,3}){0,4}|GSM \d\d\.\d\d(?:-\d{1,3})?"
    r"|(?:[A-Z][A-Z0-9]{1,4}(?:-[A-Z]{2,4})?) ?\d{3,4}(?:-\d{1,3}){0,3}|\d{2}\.\d{3}(?:-\d{1,3}){0,2}|\d{2,3}(?:-\d{1,2})?)"
)
_VERSION = r"[Vv](?:ersion )?\d{1,2}\.\d{1,2}\.\d{1,2}"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")

_FULL = re.compile(
    rf"(?P<draft>(?:final )?draft |pr)?(?:ETSI )?(?P<pr>pr)?(?P<type>{_TYPE}) ?(?P<number>{_NUMBER}) (?P<version>{_VERSION})"
    r"(?:_[\d.]+)?(?: ?\((?P<date>\d{4}-\d{2})\))?",
    re.I,
)
_DATED = re.compile(
    rf"(?P<draft>(?:final )?draft |pr)?(?:ETSI )?(?P<pr>pr)?(?P<type>{_TYPE}) ?(?P<number>{_NUMBER})"
    rf"(?:/[A-Z]\d)?(?: ?\([^()]*\))?(?:,? ?: ?| \(?)(?P<month>{'|'.join(_MONTHS)}) (?P<year>\d{{4}})",
    re.I,
)
_BARE = re.compile(rf"(?P<draft>(?:final )?draft |pr)?(?:ETSI )?(?P<pr>pr)?(?P<type>{_TYPE}) ?(?P<number>{_NUMBER})(?![\w.])")
_FOREIGN = (
    (re.compile(r"\b(?:RFC|Request for Comments:?) (\d{1,5})\b", re.I), "RFC {}"),
    (re.compile(r"\b(?:ITU-T )?Rec(?:ommendation|\.) (?:ITU-T )?([A-Z]\.\d{1,4}(?:\.\d+)?)"), "ITU-T {}"),
    (re.compile(r"\b(CCSDS \d{3}\.\d{1,2}-[A-Z]-\d{1,2})"), "{}"),
    (re.compile(r"\bIEEE (?:Std )?(\d{3,4}(?:\.\d+)?[a-zA-Z]*(?:-\d{4})?)"), "IEEE {}"),
    (re.compile(r"\bISO/IEC (\d{4,5}(?:-\d+)?)"), "ISO/IEC {}"),
)
_DATE_LINE = re.compile(
    rf"(?:\(?\d{{4}}-\d\d\)?|V\d+\.\d+\.\d+.*|(?:{'|'.join(_MONTHS)}) \d{{4}}|(?:{'|'.join(_ORDINALS)}) edition)$", re.I
)
_FILE = re.compile(
    r"(?<![a-z])(?P<type>i-?ets|ets|etr|tbr|gts|en|es|eg|ts|tr|sr|gs|gr)[_ -]?(?P<series>\d{3})[_ -]?(?P<number>\d{3})"
    r"(?P<parts>(?:[_-]\d{1,2}(?!\d)){1,3}|(?:\d\d){0,3})(?!\d)",
    re.I,
)
_FILE_EDITION = re.compile(r"(?<=\d)e(\d{2})(?=p?$)", re.I)
_FILE_VERSION = re.compile(r"v(?:(\d\d)(\d\d)(\d\d)|(\d{1,2})[._](\d{1,2})[._](\d{1,2}))(?!\d)", re.I)


@dataclass(frozen=True, slots=True)
class Identity:
    """id: "EN 302 755", version: "V1.4.1" or "ed.2", date: "2015-07"; each "" where unknown. source: where the id came from.

    also: other number of the same text ("3GPP TS 29.214"). draft: the document calls itself a draft. disagree: what worse
    sources say otherwise ("file name says TS 102 006 V1.7.1").
    """

    id: str = ""
    version: str = ""
    date: str = ""
    title: str = ""
    draft: bool = False
    source: str = ""
    also: str = ""
    disagree: tuple[str, ...] = ()


def identify(pages: Sequence[Page], metadata: Mapping[str, str | None], file: str) -> Identity:
    """Identity of a document from its pages (furniture split off), PDF metadata and file name."""
    found = [_of_headers(pages), _of_cover(pages), _of_metadata(metadata), _of_file(file)]
    best = next((f for f in found if f.id), Identity())
    disagree = []
    for other in found:
        if (
            best.id
            and other.id
            and (not _same(best.id, other.id) or (best.version and other.version not in ("", best.version)))
        ):
            disagree.append(f"{other.source} says {other.id} {other.version}".strip())
        if best.id and other.id and not _same(best.id, other.id):
            continue
        best = replace(
            best,
            version=best.version or other.version,
            date=best.date or other.date,
            also=best.also or other.also,
            draft=best.draft or other.draft,
        )
    metadata_title, cover_title = found[2].title, _cover_title(pages)
    title = metadata_title or cover_title or clean(metadata.get("title") or "")
    if not best.id:
        best = _foreign(pages, metadata) or replace(best, id=title or Path(file).stem, source="file name")
    return replace(best, title=title, disagree=tuple(disagree))


def clean(text: str) -> str:
    """Text with all kinds of space and dash made plain."""
    return re.sub(r"\s+", " ", re.sub(r"[\u2010-\u2015\u2212]", "-", text.replace("\u00ad", ""))).strip()


def rows_of(lines: Sequence[PageLine]) -> list[str]:
    """Text of printed rows: the lines side by side joined with a space."""
    rows: dict[int, list[str]] = {}
    for line in lines:
        rows.setdefault(line.row, []).append(line.text)
    return [clean(" ".join(row)) for row in rows.values()]


def _of_headers(pages: Sequence[Page]) -> Identity:
    votes: Counter[Identity] = Counter()
    also: Counter[str] = Counter()
    for page in pages[1:]:
        rows = rows_of(page.furniture) or rows_of([line for line in page.lines if line.bbox[3] < 0.12 * page.height])
        text = " ".join(rows)
        third = re.search(r"3GPP (T[SR]) (\d\d\.\d{3}(?:-\d+)?)", text)
        if third:
            also[f"3GPP {third[1]} {third[2]}"] += 1
        votes.update({match for row in rows for match in _matches(row)})
    if not votes:
        return Identity()
    # The ETSI number stands in the same header as the 3GPP one and is the document's own.
    own = [i for i in votes if not re.search(r"\d\d\.\d{3}", i.id)] or list(votes)
    best = max(own, key=lambda i: (votes[i], bool(i.date)))
    if votes[best] < 2 and len(pages) > 4:
        return Identity()
    name = also.most_common(1)[0][0] if also else ""
    return replace(best, also="" if name == best.id else name, source="running header")


def _of_cover(pages: Sequence[Page]) -> Identity:
    for page in pages[:1]:
        rows = rows_of([*page.furniture, *page.lines])
        text = clean(" ".join(rows))
        match = next(iter(_matches(text)), None)
        if match:
            return replace(match, version=match.version or _edition(text), source="cover")
        bare = _BARE.search(text)
        if bare and bare.start() < 400:
            draft = bool(bare["draft"] or bare["pr"] or re.search(r"\bdraft\b", text[:300], re.I))
            version = re.search(_VERSION, text)
            date = re.search(r"\((\d{4}-\d{2})\)", text)
            return Identity(
                id=_id(bare["type"], bare["number"]),
                version=_version(version[0]) if version else _edition(text),
                date=date[1] if date else _month(text),
                draft=draft,
                source="cover",
            )
    return Identity()


def _of_metadata(metadata: Mapping[str, str | None]) -> Identity:
    for field in ("title", "subject"):
        text = clean(metadata.get(field) or "")
        match = re.match(
            rf"(?P<draft>(?:final )?draft )?(?:ETSI )?(?P<pr>pr)?(?P<type>{_TYPE}) ?(?P<number>{_NUMBER})(?: - |,? )"
            rf"(?P<version>{_VERSION}|ed\.? ?\d+)(?: - (?P<title>.+))?",
            text,
            re.I,
        )
        if match:
            return Identity(
                id=_id(match["type"], match["number"]),
                version=_version(match["version"]),
                title=clean(match["title"] or ""),
                draft=bool(match["draft"] or match["pr"]),
                source="metadata",
            )
    return Identity()


def _of_file(file: str) -> Identity:
    name = Path(file).stem
    match = _FILE.search(name)
    if not match:
        return Identity()
    version, edition = _FILE_VERSION.search(name, match.end()), _FILE_EDITION.search(name)
    parts = re.findall(r"\d{1,2}", match["parts"])
    number = "-".join([f"{match['series']} {match['number']}", *(str(int(part)) for part in parts)])
    if version:
        printed = "V" + ".".join(str(int(part)) for part in version.groups() if part)
    else:
        printed = f"ed.{int(edition[1])}" if edition else ""
    return Identity(id=_id(match["type"], number), version=printed, source="file name")


def _matches(text: str) -> list[Identity]:
    found = [
        Identity(
            id=_id(match["type"], match["number"]),
            version=_version(match["version"]),
            date=match["date"] or "",
            draft=bool(match["draft"] or match["pr"]),
        )
        for match in _FULL.finditer(text)
    ]
    for match in _DATED.finditer(text):
        month = [m.lower() for m in _MONTHS].index(match["month"].lower()) + 1
        found.append(
            Identity(
                id=_id(match["type"], match["number"]),
                date=f"{match['year']}-{month:02}",
                draft=bool(match["draft"] or match["pr"]),
            )
        )
    return found


def _id(kind: str, number: str) -> str:
    number = re.sub(r"^(\d{3})(\d{3})", r"\1 \2", clean(number))
    number = re.sub(r"^([A-Za-z-]+)(\d{3,4})", r"\1 \2", number)
    body = "3GPP " if re.match(r"\d\d\.\d{3}", number) else ""
    return f"{body}{kind.upper()} {number}"


def _version(text: str) -> str:
    digits = re.findall(r"\d+", text)
    return f"ed.{int(digits[0])}" if len(digits) == 1 else "V" + ".".join(str(int(d)) for d in digits)


def _edition(text: str) -> str:
    """The edition as printed: "Second Edition", "Edition 2"."""
    match = re.search(rf"\b(?:{'|'.join(_ORDINALS)}) edition\b|\bedition \d\b", text, re.I)
    return match[0] if match else ""


def _month(text: str) -> str:
    match = re.search(rf"\b({'|'.join(_MONTHS)}) ((?:19|20)\d\d)\b", text, re.I)
    if match:
        return f"{match[2]}-{[m.lower() for m in _MONTHS].index(match[1].lower()) + 1:02}"
    match = re.search(r"\((\d\d)/((?:19|20)\d\d)\)", text)
    return f"{match[2]}-{match[1]}" if match else ""


def _same(a: str, b: str) -> bool:
    return re.sub(r"\W", "", a).upper() == re.sub(r"\W", "", b).upper()


def _cover_title(pages: Sequence[Page]) -> str:
    """The largest bold print of the cover beside the number itself, its lines joined."""
    if not pages:
        return ""
    lines = [line for line in pages[0].lines if line.upright and len(line.text.strip()) > 1]
    lines = [n for n in lines if not _BARE.match(clean(n.text)) and not _DATE_LINE.match(clean(n.text))]
    bold = [n for n in lines if n.bold and n.size >= 13] or [n for n in lines if n.size >= 13]
    if not bold:
        return ""
    label = re.compile(
        r"(?:(?:final )?draft|(?:interim )?european (?:telecommunications? )?standard|technical (?:specification|report|basis)|"
        r"etsi (?:guide|standard|technical)|group (?:specification|report)|special report)\b",
        re.I,
    )
    bold = [n for n in bold if not label.match(n.text.strip())] or bold
    size = Counter(round(n.size) for n in bold).most_common(1)[0][0]
    return clean(" ".join(rows_of([n for n in bold if abs(n.size - size) <= 2])))


def _foreign(pages: Sequence[Page], metadata: Mapping[str, str | None]) -> Identity | None:
    text = " ".join([clean(metadata.get("title") or ""), *(r for p in pages[:2] for r in rows_of([*p.furniture, *p.lines]))])[
        :3000
    ]
    for pattern, form in _FOREIGN:
        match = pattern.search(text)
        if match:
            return Identity(id=form.format(match[1]), date=_month(text), source="cover")
    return None
