"""Line drawings with labels: boxes, lines, arrows, curves and texts given by their coordinates in a 400 point wide field."""

from __future__ import annotations

import math

from canvas import Canvas, text_width


def draw(page: Canvas, commands: tuple[str, ...], x: float, y: float) -> list[str]:
    """Draw the commands with their origin at (x, y); gives the words printed."""
    printed = []
    for command in commands:
        name, *words = command.split()
        count = {"box": 4, "line": 4, "arrow": 4, "text": 2}.get(name, len(words))
        numbers, label = [float(w) for w in words[:count]], " ".join(words[count:])
        at = [v + (x if i % 2 == 0 else y) for i, v in enumerate(numbers)]
        if name == "box":
            page.box(at[0], at[1], numbers[2], numbers[3])
            _lines(page, label, at[0] + numbers[2] / 2, at[1] + numbers[3] / 2)
        elif name in {"line", "arrow"}:
            page.line(at[0], at[1], at[2], at[3], 0.8)
            if name == "arrow":
                _head(page, at)
        elif name == "text":
            _lines(page, label, at[0], at[1])
        elif name == "curve":
            page.curve(list(zip(at[::2], at[1::2], strict=True)), 1.0)
        else:
            raise ValueError(f"expected box, line, arrow, text or curve; found {name!r}")
        if label:
            printed.append(label.replace("/", " "))
    return printed


def _lines(page: Canvas, label: str, x: float, y: float) -> None:
    """Centre a label, whose lines are parted by `/`, on a point."""
    parts = label.split("/")
    for i, part in enumerate(parts):
        page.text(x - text_width(part, "sans", 8) / 2, y + 3 + 9 * (i - (len(parts) - 1) / 2), part, "sans", 8)


def _head(page: Canvas, at: list[float]) -> None:
    angle = math.atan2(at[3] - at[1], at[2] - at[0])
    wings = [(at[2] - 6 * math.cos(angle + s), at[3] - 6 * math.sin(angle + s)) for s in (-0.4, 0.4)]
    page.polygon([(at[2], at[3]), *wings], (0, 0, 0))
