"""What Streamlit does not bring: clicks inside our HTML, and the keys "/", ↑ and ↓.

`clicks` listens to <button data-nr="name" data-value="..."> (and <a>) inside one keyed container and reports (name, value) to
the script or fragment that mounted it. The HTML itself stays inert: it is sanitised, carries no script, and the value it
sends is looked up, never run. Ctrl-click and the middle button stay the browser's, so a link opens in a new tab as usual.
"""

from __future__ import annotations

import streamlit as st

_CLICKS_JS = """
// Streamlit enters two steps into the browser's history where a script switches to a page with a query: the query on the old
// page, which nobody has seen, then the new page. The first is left out, so that "back" leads back at once.
function leaveInOneStep(target) {
  const here = window.location.pathname;
  if (target.pathname === here) return;
  window.history.pushState = (state, unused, url) => {
    delete window.history.pushState;  // The browser's own again.
    const to = new URL(url, window.location.href);
    if (to.pathname !== here || to.search !== target.search) window.history.pushState(state, unused, url);
  };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const scope = '.st-key-' + data.scope;
  const onClick = (event) => {
    const hit = event.target instanceof Element && event.target.closest('[data-nr]');
    if (!hit || !hit.closest(scope) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (hit.href) leaveInOneStep(new URL(hit.href));
    setTriggerValue('click', [hit.dataset.nr, hit.dataset.value ?? '']);
  };
  document.addEventListener('click', onClick);
  return () => document.removeEventListener('click', onClick);
}
"""

_KEYS_JS = """
export default function ({ data }) {
  const typing = (el) => el && (el.matches('input, textarea, select, [contenteditable=true], [role=slider], [role=combobox]'));
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === '/') {
      const box = document.querySelector('.st-key-' + data.box + ' input, .st-key-' + data.box + ' textarea');
      if (box) { event.preventDefault(); box.focus(); box.select(); }
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const cards = [...document.querySelectorAll(data.cards)];
      const at = cards.indexOf(document.activeElement.closest(data.cards));
      if (at < 0 && !(document.activeElement === document.body)) return;
      const next = cards[at < 0 ? 0 : at + (event.key === 'ArrowDown' ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus({ preventScroll: true }); next.scrollIntoView({ block: 'nearest' }); }
    }
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
"""

_HISTORY_JS = """
export default function ({ data, setTriggerValue }) {
  const read = () => data.name ? new URLSearchParams(window.location.search).get(data.name) ?? '' : window.location.search;
  // Leaving the page is Streamlit's own: an answer here would race with it and bring the page left back.
  const here = () => window.location.pathname.split('/').pop() === data.page;
  const onPop = () => { if (here()) setTriggerValue('at', read()); };
  window.addEventListener('popstate', onPop);
  return () => window.removeEventListener('popstate', onPop);
}
"""

# Registered once, at import: making a component anew in every run would send its code anew.
_clicks = st.components.v2.component("normrag_clicks", js=_CLICKS_JS)
_keys = st.components.v2.component("normrag_keys", js=_KEYS_JS)
_history = st.components.v2.component("normrag_history", js=_HISTORY_JS)


def clicks(scope: str) -> tuple[str, str] | None:
    """(name, value) of what was clicked inside `st.container(key=scope)` since the last run, else None.

    Call it once for each scope, in the script or fragment that shall rerun. scope: a literal of ours: letters, digits, "_".
    """
    clicked = _clicks(key=f"{scope}_clicks", data={"scope": scope}, on_click_change=lambda: None).click
    return (str(clicked[0]), str(clicked[1])) if clicked else None


def keys(box: str, cards: str) -> None:
    """ "/" puts the cursor into the input of `key=box`; ↑ and ↓ walk the elements that the CSS selector `cards` names."""
    _keys(key=f"{box}_keys", data={"box": box, "cards": cards})


def history(page: str, name: str = "") -> str | None:
    """Value of a query parameter, or the whole query ("?q=...") without a name, after the browser's back or forward within
    this page; else None. Streamlit itself reruns for a change of page only. page: its name in the address."""
    moved = _history(key=f"history_{name}", data={"name": name, "page": page}, on_at_change=lambda: None).at
    return None if moved is None else str(moved)
