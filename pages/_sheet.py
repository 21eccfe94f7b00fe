"""The page of the PDF as a picture, with the lines of a text marked where they stand."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import streamlit as st
from streamlit import runtime

from normrag_core.ingest.places import Places
from normrag_core.model import InfoUnit, Line, Rect, Span
from pages import _escape as escape
from pages import _state as state

ZOOMS = (50, 75, 100, 125, 150)
_PIXELS_A_POINT = 1.7
_LARGEST = 60_000_000  # Bytes of a PDF that is offered to open in a tab.


def lines_of(unit: InfoUnit, spans: Sequence[Span]) -> list[Line]:
    """The printed lines of a unit that the spans touch."""
    own = [s for s in spans if s.unit == unit.id]
    return [line for line in unit.lines if any(line.start < s.end and line.end > s.start for s in own)]


def show(unit: InfoUnit, lines: Sequence[Line], key: str, near: tuple[int, int] | None = None) -> None:
    """The page where the marked lines begin, with previous, next, zoom, and the PDF itself.

    lines: of the unit, or of several units of its document. near: offsets in the unit's body of the sentence that stands out.
    """
    document = state.corpus().by_key[unit.document]
    marked = Places(unit).rects(*near) if near is not None else ()
    first = marked[0].page if marked else lines[0].rect.page if lines else unit.page
    shown = (unit.id, lines[0] if lines else None, near)
    if st.session_state.get(f"{key}_sheet_of") != shown:
        st.session_state[f"{key}_sheet_of"] = shown
        st.session_state[f"{key}_sheet_page"] = first
    _panel(unit, lines, key, marked, document.pages)


@st.fragment
def _panel(unit: InfoUnit, lines: Sequence[Line], key: str, near: Sequence[Rect], pages: int) -> None:
    at = f"{key}_sheet_page"
    page: int = st.session_state[at]
    marked = sorted({line.rect.page for line in lines})
    document = state.corpus().by_key[unit.document]
    if not state.library().has_original(document.key):
        st.html('<div class="nr-small">The PDF itself was not kept (units from JSON), so its pages cannot be shown.</div>')
        return

    def turn(step: int) -> None:
        st.session_state[at] = min(max(1, st.session_state[at] + step), pages)

    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{key}_sheet_bar"):
        st.button(
            "",
            icon=":material/chevron_left:",
            key=f"{key}_back",
            on_click=turn,
            args=(-1,),
            disabled=page <= 1,
            help="Page before",
        )
        where = f"page {page} of {pages}" + (f" · marked: {_ranges(marked)}" if marked else "")
        st.html(f'<span class="nr-small" data-testid="sheet-page">{escape.html(where)}</span>')
        st.button(
            "",
            icon=":material/chevron_right:",
            key=f"{key}_on",
            on_click=turn,
            args=(1,),
            disabled=page >= pages,
            help="Page after",
        )
        zoom = st.segmented_control(
            "Zoom",
            ZOOMS,
            default=100,
            key=f"{key}_zoom",
            format_func=lambda z: f"{z} %",
            label_visibility="collapsed",
            required=True,
        )
        st.download_button(
            "PDF",
            lambda: state.library().original(document.key) or b"",
            file_name=_file_name(document.file),
            mime="application/pdf",
            on_click="ignore",
            key=f"{key}_pdf",
            icon=":material/download:",
            help="The whole document as it was added",
        )
        address = _address(document.key, key)
        if address:
            st.link_button(
                "Open",
                f"{address}#page={page}",
                icon=":material/open_in_new:",
                help="The PDF in a tab of its own, at this page, where the browser shows PDFs",
            )
    picture = state.library().page_picture(document.key, page, _PIXELS_A_POINT)
    if isinstance(picture, str):
        st.html(f'<div class="nr-note">{escape.html(picture)}</div>')
        return
    size = document.page_sizes[page - 1] if page <= len(document.page_sizes) else (595.0, 842.0)
    name = escape.html(document.label)
    image = base64.b64encode(picture).decode()
    boxes = [_box(line.rect, size, near=False) for line in lines if line.rect.page == page]
    boxes += [_box(rect, size, near=True) for rect in near if rect.page == page]
    wide = zoom or 100
    fitted = ";max-width:100%" if wide <= 100 else ""  # In a narrow window a page is as wide as the window, unless enlarged.
    st.html(
        f'<div style="overflow-x:auto"><div class="nr-sheet" style="width:{wide * 7.6:.0f}px{fitted}" data-testid="sheet">'
        f'<img alt="Page {page} of {name}" src="data:image/png;base64,{image}">{"".join(boxes)}</div></div>'
    )


def _address(document: str, key: str) -> str:
    """Where the browser gets the PDF as long as this page shows it; "" for a PDF too large to be held beside it.

    Streamlit has no public way to serve bytes under an address but for its own elements; this is the one that those use.
    """
    data = state.library().original(document)
    if data is None or len(data) > _LARGEST:
        return ""
    return runtime.get_instance().media_file_mgr.add(data, "application/pdf", f"sheet-{key}")


def _box(rect: Rect, size: tuple[float, float], near: bool) -> str:
    """A mark in shares of the page, so that it fits at every zoom."""
    width, height = size
    left, top = 100 * rect.x0 / width, 100 * rect.y0 / height
    wide, high = 100 * (rect.x1 - rect.x0) / width, 100 * (rect.y1 - rect.y0) / height
    place = f"left:{left:.3f}%;top:{top:.3f}%;width:{wide:.3f}%;height:{high:.3f}%"
    return f'<i class="{"nr-near" if near else "nr-line"}" style="{place}"></i>'


def _ranges(pages: Sequence[int]) -> str:
    return f"{pages[0]}" if len(pages) == 1 else f"{pages[0]}–{pages[-1]}"


def _file_name(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in "-_. " else "_" for c in escape.plain(name))
    return kept[-120:] or "standard.pdf"
