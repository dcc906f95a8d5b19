"""What can be said of a report without a browser: that it is well-formed, and that it asks for nothing from outside."""

from html.parser import HTMLParser

# Elements without an end tag.
VOID = {"meta", "link", "br", "hr", "img", "input", "col"}
# All that a page of ours is made of; a hostile name that became an element of another kind is not in it.
ALLOWED = {
    "a", "body", "canvas", "caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer", "h1", "h2", "h3",
    "head", "header", "html", "li", "link", "main", "meta", "nav", "p", "pre", "script", "section", "span", "style", "summary",
    "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
}


class PageParser(HTMLParser):
    """Collects what is wrong, and the elements of interest."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.problems = []
        self.open = []
        self.ids = []
        self.headings = []
        self.scripts = 0
        self.traced = []  # (field, value, text) of elements with data-field
        self._traced_at = None

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in ALLOWED:
            self.problems.append(f"element <{tag}> has no business in a page")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.problems.append(f"attribute {name} in <{tag}>")
            if name in ("src", "href") and not (value.startswith("#") or value == "data:,"):
                self.problems.append(f'<{tag} {name}="{value}"> leads out of the page')
        if len(values) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        if "id" in values:
            self.ids.append(values["id"])
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        self.scripts += tag == "script"
        if "data-field" in values:
            self.traced.append([values["data-field"], values.get("data-value"), ""])
            self._traced_at = len(self.open)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> where {self.open[-1] if self.open else 'nothing'} is open")
            return
        self.open.pop()
        if self._traced_at == len(self.open):
            self._traced_at = None

    def handle_data(self, data):
        # A tone's word and sign stand in elements of their own inside.
        if self._traced_at is not None and len(self.open) == self._traced_at + 1:
            self.traced[-1][2] += data

    def finish(self):
        self.close()
        if self.open:
            self.problems.append(f"never closed: {self.open}")
        for repeated in {one for one in self.ids if self.ids.count(one) > 1}:
            self.problems.append(f'id "{repeated}" is there {self.ids.count(repeated)} times')
        if self.headings.count(1) != 1 or self.headings[:1] != [1]:
            self.problems.append("a page begins with its one h1")
        for before, after in zip(self.headings, self.headings[1:]):
            if after > before + 1:
                self.problems.append(f"h{after} follows h{before}")


def parsed(text):
    parser = PageParser()
    parser.feed(text)
    parser.finish()
    return parser
