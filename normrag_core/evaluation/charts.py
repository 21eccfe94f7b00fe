"""Small SVG charts for reports that are read as files. The pages draw their own, interactive ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from normrag_core.evaluation.statistics import Interval

# Okabe and Ito's palette: told apart by people with colour vision deficiency too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
ROW, LEFT, WIDTH, TOP, RIGHT = 15, 170, 560, 46, 60


def bars(title: str, groups: Sequence[str], series: Mapping[str, Sequence[Interval | None]], low: float = 0.0) -> str:
    """Horizontal bars with their intervals, values from `low` to 1. series: name → one interval a group (None leaves a gap)."""
    height = TOP + len(groups) * (len(series) * ROW + 10) + 26
    body = []
    for g, group in enumerate(groups):
        top = TOP + g * (len(series) * ROW + 10)
        body.append(_text(LEFT - 8, top + len(series) * ROW / 2 + 4, group, "end"))
        for s, (name, values) in enumerate(series.items()):
            value = values[g]
            if value is None:
                continue
            y, x = top + s * ROW, _x(value.mean, low)
            colour = COLOURS[s % len(COLOURS)]
            label = f"{group}, {name}: {value}"
            body.append(
                f'<rect x="{LEFT}" y="{y + 1:.0f}" width="{max(x - LEFT, 0):.1f}" height="{ROW - 3}" fill="{colour}">'
                f"<title>{escape(label)}</title></rect>"
            )
            middle = y + ROW / 2
            ends = _x(value.low, low), _x(value.high, low)
            body.append(f'<path d="M{ends[0]:.1f} {middle:.1f}H{ends[1]:.1f}" stroke="#222" stroke-width="1.2"/>')
            body.append(_text(ends[1] + 5, middle + 4, f"{value.mean:.2f}"))
    return _svg(title, list(series), body, height, _axis(low, height))


def histogram(title: str, categories: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """Horizontal bars of shares (0 to 1) by category, no intervals."""
    return bars(title, categories, {name: [Interval(v, v, v) for v in values] for name, values in series.items()})


def _x(value: float, low: float) -> float:
    return LEFT + WIDTH * (min(max(value, low), 1.0) - low) / (1.0 - low)


def _axis(low: float, height: float) -> list[str]:
    out = []
    for tick in range(11):
        value = tick / 10
        if value >= low and tick % 2 == 0:
            x = _x(value, low)
            out.append(f'<path d="M{x:.1f} {TOP - 4}V{height - 22}" stroke="#ddd"/>')
            out.append(_text(x, height - 8, f"{value:.1f}", "middle"))
    return out


def _svg(title: str, series: Sequence[str], body: Sequence[str], height: float, axis: Sequence[str]) -> str:
    width = LEFT + WIDTH + RIGHT
    legend, x = [], float(LEFT)
    for i, name in enumerate(series):
        legend.append(f'<rect x="{x:.0f}" y="27" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>')
        legend.append(_text(x + 14, 36, name))
        x += 30 + 6.6 * len(name)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" role="img" '
        f'aria-label="{escape(title, {chr(34): "&quot;"})}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height:.0f}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-size="14" font-weight="bold" fill="#222">{escape(title)}</text>',
        *legend,
        *axis,
        *body,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'
