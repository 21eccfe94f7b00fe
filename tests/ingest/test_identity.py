"""Which standard a file is: headers of all decades and types, and which source wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from pdfs import sheet

from normrag_core.ingest import read_pdf
from normrag_core.ingest.identity import Identity, identify
from normrag_core.ingest.layout import Page, PageLine, Span


def line(text: str, y: float, row: int, size: float = 9.0, bold: bool = False, page: int = 2) -> PageLine:
    box = (57.0, y - size, 57.0 + 5 * len(text), y)
    return PageLine(page, text, (Span(text, "Arial", size, bold, False, False, box, (57.0, y)),), box, size, bold, y, row)


def pages(header: str, cover: tuple[str, ...] = (), count: int = 4) -> list[Page]:
    """A cover and pages with a running header; the parts of a header stand in rows divided by " / "."""
    front = tuple(line(text, 100.0 + 30 * n, n, 17.0, True, 1) for n, text in enumerate(cover))
    made = [Page(1, 595, 842, front, (), (), (), 0)]
    for number in range(2, count + 1):
        rows = tuple(line(text.strip(), 50.0 + 12 * n, n, page=number) for n, text in enumerate(header.split(" / ")))
        made.append(Page(number, 595, 842, (), rows, (), (), 0))
    return made


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("ETSI EN 302 755 V1.4.1 (2015-07)", ("EN 302 755", "V1.4.1", "2015-07")),
        ("ETSI EN 301 489-1 V2.2.3 (2019-11) 12", ("EN 301 489-1", "V2.2.3", "2019-11")),
        ("ETSI EN\u00a0302\u00a0307\u20111 V1.4.1 (2014-11)", ("EN 302 307-1", "V1.4.1", "2014-11")),
        ("EG 201 018 V1.5.2 (1998-11)", ("EG 201 018", "V1.5.2", "1998-11")),
        ("ETSI ES 283 035 V3.2.1 (2018-01)", ("ES 283 035", "V3.2.1", "2018-01")),
        ("ETSI TS 101 376-5-3 V1.2.1 (2002-04)", ("TS 101 376-5-3", "V1.2.1", "2002-04")),
        ("ETSI GS QKD 014 V1.1.1 (2019-02)", ("GS QKD 014", "V1.1.1", "2019-02")),
        ("ETSI GS NFV-SOL 001 V2.5.1 (2018-12)", ("GS NFV-SOL 001", "V2.5.1", "2018-12")),
        ("ETSI GR mWT 012 V1.1.1 (2018-11)", ("GR mWT 012", "V1.1.1", "2018-11")),
        ("ETSI SR 003 680 V1.1.1 (2020-03)", ("SR 003 680", "V1.1.1", "2020-03")),
        ("ETSI TR 103 582 V1.1.1 (2019-07)", ("TR 103 582", "V1.1.1", "2019-07")),
        ("Page 9 / ETS 300 706: May 1997", ("ETS 300 706", "", "1997-05")),
        ("Page 4 / I-ETS 300 025: December 1992", ("I-ETS 300 025", "", "1992-12")),
        ("Page 12 / ETR 154: September 1997", ("ETR 154", "", "1997-09")),
        ("Page 3 / TBR 21: January 1998", ("TBR 21", "", "1998-01")),
        ("Page 31 / ETS 300 557 (GSM 04.08 version 4.17.1): June 1997", ("ETS 300 557", "", "1997-06")),
        ("Page 8 / ETS 300 175-2/A1: July 1995", ("ETS 300 175-2", "", "1995-07")),
        ("GTS GSM 04.08 V5.3.0 (1996-07)", ("GTS GSM 04.08", "V5.3.0", "1996-07")),
        (
            "3GPP TS 29.272 version 16.4.0 Release 16 / 5 / ETSI TS 129 272 V16.4.0 (2020-11)",
            ("TS 129 272", "V16.4.0", "2020-11"),
        ),
        ("3GPP TR 36.873 V12.7.0 (2017-12)", ("3GPP TR 36.873", "V12.7.0", "2017-12")),
        ("3GPP TR36.873 V12.7.0 (2017-12)", ("3GPP TR 36.873", "V12.7.0", "2017-12")),
    ],
)
def test_running_headers(header: str, expected: tuple[str, str, str]) -> None:
    found = identify(pages(header), {}, "x.pdf")
    assert (found.id, found.version, found.date) == expected
    assert found.source == "running header"
    assert not found.draft


@pytest.mark.parametrize(
    "header",
    [
        "Draft ETSI EN 302 755 V1.4.1 (2015-02)",
        "Final draft ETSI EN 302 755 V1.4.1 (2015-02)",
        "Page 2 / Draft prETS 300 706: May 1996",
    ],
)
def test_drafts_are_told_from_finals(header: str) -> None:
    found = identify(pages(header), {}, "x.pdf")
    assert found.draft
    assert found.id in ("EN 302 755", "ETS 300 706")


def test_3gpp_number_of_the_same_text() -> None:
    header = "3GPP TS 29.272 version 16.4.0 Release 16 / ETSI TS 129 272 V16.4.0 (2020-11)"
    assert identify(pages(header), {}, "x.pdf").also == "3GPP TS 29.272"


def test_header_beats_the_file_name_and_says_so() -> None:
    found = identify(pages("ETSI TS 102 006 V1.4.1 (2015-06)"), {}, "etsi_ts_102_006_v01.07.01_dvb_ssu.pdf")
    assert (found.id, found.version) == ("TS 102 006", "V1.4.1")
    assert found.disagree == ("file name says TS 102 006 V1.7.1",)


def test_one_mention_of_another_standard_is_no_header() -> None:
    made = pages("ETSI EN 302 755 V1.4.1 (2015-07)", count=6)
    odd = line("ETSI EN 300 421 V1.1.2 (1997-08)", 60.0, 3)
    made[2] = Page(3, 595, 842, (odd,), made[2].furniture, (), (), 0)
    assert identify(made, {}, "x.pdf").id == "EN 302 755"


def test_cover_split_over_lines_with_edition_and_title() -> None:
    cover = (
        "EUROPEAN TELECOMMUNICATION STANDARD",
        "ETS 300 999",
        "May 1995",
        "Second Edition",
        "Radio (RS);",
        "Paging",
    )
    made = pages("Page 2", cover)
    for index, page in enumerate(made[1:], 1):
        made[index] = Page(page.number, 595, 842, (), (), (), (), 0)
    found = identify(made, {}, "x.pdf")
    assert found == Identity("ETS 300 999", "Second Edition", "1995-05", "Radio (RS); Paging", False, "cover")


def test_metadata_fills_what_the_pages_lack() -> None:
    blank = [Page(n, 595, 842, (), (), (), (), 1) for n in (1, 2, 3)]
    title = "EN 300 744 - V1.6.1 - Digital Video Broadcasting (DVB); Framing structure"
    found = identify(blank, {"title": title}, "scan.pdf")
    assert (found.id, found.version) == ("EN 300 744", "V1.6.1")
    assert found.title == "Digital Video Broadcasting (DVB); Framing structure"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("en_30148901v020203p.pdf", ("EN 301 489-1", "V2.2.3")),
        ("ts_129272v160400p.pdf", ("TS 129 272", "V16.4.0")),
        ("ets_300706e01p.pdf", ("ETS 300 706", "ed.1")),
        ("etsi_en_302_307_1_v01.04.01_dvb_s2.pdf", ("EN 302 307-1", "V1.4.1")),
        ("ETSI_EG_201_018_V1_5_2_(1998-11).pdf", ("EG 201 018", "V1.5.2")),
        ("ts_1013760503v010201p.pdf", ("TS 101 376-5-3", "V1.2.1")),
    ],
)
def test_file_names_come_last(file: str, expected: tuple[str, str]) -> None:
    blank = [Page(n, 595, 842, (), (), (), (), 1) for n in (1, 2, 3)]
    found = identify(blank, {}, file)
    assert (found.id, found.version) == expected
    assert found.source == "file name"


@pytest.mark.parametrize(
    ("cover", "expected"),
    [
        (("Internet Engineering Task Force", "Request for Comments: 9110", "HTTP Semantics"), "RFC 9110"),
        (("Recommendation ITU-T G.992.1", "Asymmetric transceivers"), "ITU-T G.992.1"),
        (("TM SYNCHRONIZATION", "CCSDS 131.0-B-3"), "CCSDS 131.0-B-3"),
        (("IEEE Std 802.3-2018", "Standard for Ethernet"), "IEEE 802.3-2018"),
    ],
)
def test_other_bodies(cover: tuple[str, ...], expected: str) -> None:
    blank = pages("x", cover)
    assert identify([blank[0]], {}, "download.pdf").id == expected


def test_draft_and_final_of_one_version_get_different_keys(tmp_path: Path) -> None:
    keys = []
    for name, header in (("f", "ETSI EN 399 100 V1.2.1 (2019-03)"), ("d", "Final draft ETSI EN 399 100 V1.2.1 (2018-11)")):
        s = sheet(header)
        for _ in range(3):
            s.turn().head("1", "Scope").prose()
        keys.append(read_pdf(s.save(tmp_path / f"{name}.pdf")).document.key)
    assert keys == ["EN 399 100 V1.2.1", "EN 399 100 V1.2.1 draft"]
