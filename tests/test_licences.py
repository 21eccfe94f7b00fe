"""The list of licences holds what is installed, at its version."""

from __future__ import annotations

import re
from email.message import Message

from tests.licences import LIST, ROOT, licence, listed, pinned


def test_every_pinned_package_is_listed_with_a_licence() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf8")
    elsewhere = pinned(
        "\n".join(re.findall(r"^[\w.-]+==\S+ ; .*(?:sys_platform|platform_system|platform_python).*$", lock, re.M))
    )
    shown = listed(LIST.read_text("utf8"))
    for name, version in pinned(lock).items():
        if name in shown or name not in elsewhere:
            assert shown[name][0] == version, name
            assert shown[name][1], name
    assert shown.keys() - pinned(lock).keys() == {"torch"}
    assert f"TORCH := torch=={shown['torch'][0]}" in (ROOT / "Makefile").read_text("utf8")


def test_what_a_package_says_of_its_licence() -> None:
    found = Message()
    assert licence(found) == ""
    found["License"] = "MIT\nCopyright somebody"
    assert licence(found) == "MIT"
    found["Classifier"] = "License :: OSI Approved :: BSD License"
    found["Classifier"] = "Topic :: Text Processing :: General"
    assert licence(found) == "BSD License"
    found["License-Expression"] = "Apache-2.0"
    assert licence(found) == "Apache-2.0"
