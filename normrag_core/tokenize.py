"""Text in, index terms out: the domain tokeniser keeps what standards are asked by; "word" is the plain baseline.

Ordinary tokenisers turn "clause 4.2.1 of EN 301 489-1 [1] ... 3 V/m" into "clause of en 301 489". Here clause numbers,
document and part numbers, identifiers, values with their units and single digits survive, whole and by parts.
"""

from __future__ import annotations

import re
import threading
from itertools import chain

import snowballstemmer

from normrag_core.config import Tokenizer

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_LETTERS = {"\u03bc": "µ", "\u2126": "Ω", "\u200b": None}  # Greek mu, ohm sign, zero-width space
_UNIFIED = str.maketrans(dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SPACES, " ") | _LETTERS)
_SOFT_HYPHEN = re.compile(r"(?<=[^\W\d_])\u00ad\s*(?=[^\W\d_])")
_MARKUP = re.compile(r"</?su[bp]>")
_RULE = re.compile(r":?-{2,}:?|:?-:|:-")

_UNITS = (
    "dBµV/m|dBuV/m|dBµV|dBuV|dBµA|dBm|dBi|dBc|dBd|dBW|dB|kHz|MHz|GHz|THz|Hz|V/m|mV|kV|µV|V|mA|µA|A/m|A|mW|kW|MW|W"
    "|Mbit/s|kbit/s|Gbit/s|bit/s|Mbps|kbps|Gbps|kbit|Mbit|bits?|bytes?|kB|MB|GB|octets?|kBd|MBd|Bd"
    "|ms|µs|us|ns|seconds?|minutes?|min|hours?|days?|s|h|km|cm|mm|m|kΩ|MΩ|Ω|ohms?|pF|nF|µF|ppm|°C|°|%|symbols?|cells?|carriers?"
)
_TYPES = "I-ETS|ETS|ETR|EN|ES|EG|TS|TR|GS|GR|SR|TBR|GTS"
_TOKEN = re.compile(
    rf"""
    [^\W\d_]++(?!\w|[-./_^]\w|\ ?[\dA-Z])               # most words, seen off first: the rest costs more
    |(?i:{_TYPES})[ -]?\d{{3}}[ -]?\d{{3}}(?:-\d{{1,3}})*(?!\w)   # EN 301 489-1, TS129229
    |(?i:T[SR])\ ?\d{{2}}\.\d{{3}}(?!\w)                   # 3GPP TS 29.229
    |(?:[Cc]lauses?|[Ss]ubclauses?|[Tt]ables?|[Ff]igures?|[Aa]nnex(?:es)?|[Pp]arts?|[Rr]elease)
        \ (?:[A-Z]{{1,2}}|\d+[a-z]?)(?!\w|[.]\w)           # table 12, annex A
    |\d{{1,3}}\ \d{{3}}(?:\ \d{{3}})*(?:-\d{{1,3}})*(?![\w.])       # 301 489-1, 64 800
    |\d+(?:[.,]\d+)?[ -]?(?:{_UNITS})(?![\w/])             # 3 V/m, 25 ms, 8-bit
    |\d+(?:\^-?\w+)+                                      # 2^19
    |\w+(?:[-./_]\w+)*                                    # 4.2.1, PLP_ID, DVB-T2, Mbit/s, time-slicing
    |[%°Ω]
    """,
    re.VERBOSE,
)
_VALUE = re.compile(rf"(\d+(?:[.,]\d+)?)[ -]?({_UNITS})$")
_DOCUMENT = re.compile(rf"({_TYPES})[ -]?(\d{{3}})[ -]?(\d{{3}})((?:-\d+)*)$", re.IGNORECASE)
_3GPP = re.compile(r"(T[SR]) ?(\d{2})\.(\d{3})$", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}( \d{3})+(-\d{1,3})*$")
_LABELLED = re.compile(r"([A-Za-z]+) (\w+)$")
_NUMBER = re.compile(r"[a-z]?\.?\d+(?:\.\d+)+[a-z]{0,2}$")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PIECES = re.compile(r"[-./_]+")

LINES_KEPT = 8_000_000  # Characters of lines whose terms are kept, about 60 MB with them.

# Little more than articles and prepositions: "not", "shall", "no" and the like carry meaning in a standard.
STOP_WORDS = frozenset(
    """a an and are as at be been but by can could do does did for from had has have how i if in into is it its me my of on or
    our over so than that the their them then there these they this those to under up was we were what when where which
    while who whose why will with would you your""".split()  # noqa: SIM905
)


def unify(text: str) -> str:
    """The text with one kind of dash and space, without soft hyphens inside words and without markup of the reader."""
    if not text.isascii():
        text = (_SOFT_HYPHEN.sub("", text) if "\u00ad" in text else text).translate(_UNIFIED)
    return _MARKUP.sub("", text) if "<su" in text else text


def words(text: str) -> list[str]:
    """The words that lengths are counted in: what stands between spaces, seen through the bars and rules of tables."""
    if "|" not in text:
        return text.split()
    return [w for w in text.replace("|", " ").split() if not _RULE.fullmatch(w)]


def tokenize(text: str, tokenizer: Tokenizer = "domain", stem: bool = True) -> list[str]:
    """Index terms of a text, in order. stem (Snowball English) applies to "domain" only.

    "word" is the tokenisation of the rank-bm25 README, `doc.split(" ")`: the baseline, with all it misses.
    """
    if tokenizer == "word":
        return text.split(" ")
    if "\u00ad" in text:  # A word may go on behind it in the next line.
        return list(_line_terms(text, stem))
    return list(chain.from_iterable(map(_LINES[stem].__getitem__, text.split("\n"))))


def _line_terms(line: str, stem: bool) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_KNOWN[stem].__getitem__, _TOKEN.findall(unify(line)))))


class _Lines(dict[str, tuple[str, ...]]):
    """Line → its terms: no term runs over two lines, and each chunking cuts the same lines in another way."""

    def __init__(self, stem: bool) -> None:
        super().__init__()
        self.stem = stem
        self.size = 0

    def __missing__(self, line: str) -> tuple[str, ...]:
        if self.size > LINES_KEPT:
            self.clear()
            self.size = 0
        terms = self[line] = _line_terms(line, self.stem)
        self.size += len(line)
        return terms


class _Known(dict[str, tuple[str, ...]]):
    """What was matched → its terms. A corpus repeats its words, so each is worked out once."""

    def __init__(self, stem: bool) -> None:
        super().__init__()
        self.stem = stem

    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) > 500_000:
            self.clear()
        terms = self[raw] = _terms(raw, self.stem)
        return terms


_KNOWN = {stem: _Known(stem) for stem in (False, True)}
_LINES = {stem: _Lines(stem) for stem in (False, True)}


def _terms(raw: str, stem: bool) -> tuple[str, ...]:
    """Terms of one match of the token pattern: whole and by parts."""
    if document := _DOCUMENT.match(raw):
        kind, series, number, part = document.groups()
        return (kind.lower(), *_grouped(f"{series} {number}{part}"))
    if document := _3GPP.match(raw):
        # ETSI publishes 3GPP TS 29.229 as TS 129 229; either name finds the other.
        kind, series, number = document.groups()
        return (kind.lower(), f"{series}.{number}", f"1{series} {number}")
    if _GROUPED.match(raw):
        return _grouped(raw)
    if value := _VALUE.match(raw):
        amount, unit = value[1].replace(",", "."), _word(value[2].lower(), stem)
        return (f"{amount} {unit}", amount, unit)
    if pair := _LABELLED.match(raw):
        word, label = _word(pair[1].lower(), stem), pair[2].lower()
        return (f"{word} {label}", word, *((label,) if label[0].isdigit() else ()))
    low = raw.casefold()
    if low in STOP_WORDS and not (len(raw) == 1 and raw.isupper()):
        return ()
    if low.isdigit():
        return (low.lstrip("0") or "0",) if len(low) > 1 and low[0] == "0" else (low,)
    if _NUMBER.match(low) or "^" in low:
        return (low,)
    if low.isalpha() and (raw.islower() or raw.isupper() or raw.istitle()):
        return (_word(low, stem),)
    return _compound(raw, low, stem)


def _grouped(number: str) -> tuple[str, ...]:
    """A document number (301 489-1) or a number in thousands (64 800): only the reader knows which, so both forms."""
    base, _, part = number.partition("-")
    pieces = base.split(" ")
    parts = (base, f"{pieces[-1]}-{part}", *part.split("-")) if part else ()
    return (number, *parts, base.replace(" ", ""), *pieces)


def _compound(raw: str, low: str, stem: bool) -> tuple[str, ...]:
    """An identifier or hyphenated word: whole, and its pieces where there are several."""
    pieces: list[str] = []
    for piece in _PIECES.split(raw):
        split = _CAMEL.findall(piece) if piece.isalpha() and not (piece.islower() or piece.isupper()) else [piece]
        pieces += [p.casefold() for p in split]
    pieces = [p for p in pieces if p and p not in STOP_WORDS]
    if pieces == [low] or not pieces:
        return (_word(low, stem),)
    return (low, *(_word(p, stem) for p in pieces))


_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = threading.Lock()  # The C stemmer keeps its state in the object.


def _word(word: str, stem: bool) -> str:
    """A lower-case word, stemmed where that is asked for and it is a word of letters."""
    if not stem or len(word) < 4 or not word.isalpha():
        return word
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))
