"""Whether colours can be told from their background and from each other, also by those who see fewer of them."""

from itertools import combinations

# Linear RGB as people with protanopia, deuteranopia and tritanopia see it: Machado, Oliveira, Fernandes (2009), severity 1.
SIGHTS = {
    "full": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# What WCAG 2.1 asks of text (1.4.3) and of graphical objects (1.4.11).
TEXT_CONTRAST_LEAST = 4.5
GRAPHIC_CONTRAST_LEAST = 3.0
# CIE 1976 colour difference; some 2 can just be noticed side by side, thin lines apart need several times that.
DIFFERENCE_LEAST = 12.0


def rgb_of(text):
    """(0..255) * 3 of "#rrggbb"."""
    return tuple(int(text[at : at + 2], 16) for at in (1, 3, 5))


def linear(text):
    parts = [part / 255 for part in rgb_of(text)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one, other):
    light = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(text))) for text in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def lab(colour):
    red, green, blue = (min(1.0, max(0.0, part)) for part in colour)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz)
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def difference(one, other, sight):
    seen = [lab([sum(w * c for w, c in zip(row, linear(text))) for row in SIGHTS[sight]]) for text in (one, other)]
    return sum((a - b) ** 2 for a, b in zip(*seen)) ** 0.5


def palette_problems(colours):
    """`colours` has those of the style sheet by name."""
    for background in ("card", "page"):
        for name in ("text", "muted", "link", "good", "warning", "bad", "limit"):
            ratio = contrast(colours[name], colours[background])
            if ratio < TEXT_CONTRAST_LEAST:
                yield f"{name} on {background}: contrast {ratio:.2f}, below {TEXT_CONTRAST_LEAST}"
    series = {name: colour for name, colour in colours.items() if name.startswith("series-")}
    for name, colour in series.items():
        ratio = contrast(colour, colours["card"])
        if ratio < GRAPHIC_CONTRAST_LEAST:
            yield f"{name} on card: contrast {ratio:.2f}, below {GRAPHIC_CONTRAST_LEAST}"
    for (name, colour), (other_name, other) in combinations(series.items(), 2):
        for sight in SIGHTS:
            apart = difference(colour, other, sight)
            if apart < DIFFERENCE_LEAST:
                yield f"{name} and {other_name}: difference {apart:.1f} with {sight} sight, below {DIFFERENCE_LEAST}"
