"""What must hold of a page in a browser; each check yields sentences on what does not."""

import json
import time

from colours import palette_problems, rgb_of

COLOURS = """
const style = getComputedStyle(document.documentElement);
const names = ['card', 'page', 'text', 'muted', 'link', 'good', 'warning', 'bad', 'limit'];
for (let place = 0; place < 8; ++place) names.push('series-' + place);
return Object.fromEntries(names.map((name) => [name, style.getPropertyValue('--' + name).trim()]));
"""

# Of each canvas: datasets and points as Chart.js has them, colours that are there, colours of series with a pixel of them.
CANVASES = """
const near = (data, at, rgb) => Math.abs(data[at] - rgb[0]) + Math.abs(data[at + 1] - rgb[1]) + Math.abs(data[at + 2] - rgb[2]) < 24;
return [...document.querySelectorAll('.plot canvas')].map((canvas) => {
  const chart = Chart.getChart(canvas);
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 250) continue;
    const colour = data[at] * 65536 + data[at + 1] * 256 + data[at + 2];
    if (colours.has(colour)) continue;
    colours.add(colour);
    arguments[0].forEach((rgb, place) => { if (near(data, at, rgb)) seen.add(place); });
  }
  return {id: canvas.closest('figure').id, width: canvas.clientWidth, height: canvas.clientHeight, colours: colours.size,
    seen: [...seen], points: chart ? chart.data.datasets.map((dataset) => dataset.data.length) : null,
    right: canvas.getBoundingClientRect().right};
});
"""

OUTLINE = """
const has = (selector) => document.querySelectorAll(selector).length;
return {lang: document.documentElement.lang, title: document.title, h1: document.querySelector('h1').textContent,
  main: has('main'), header: has('body > header'), footer: has('body > footer'), nav: has('nav[aria-label]'),
  skip: !!document.querySelector(document.querySelector('.skip').getAttribute('href')),
  unlabelled: has('section:not([aria-labelledby])'), canvases: has('canvas:not([role=img][aria-label][tabindex="0"])'),
  scrollers: has('.scroll:not([tabindex="0"][role=region][aria-label])'), headless: has('table:not(:has(caption, thead th[scope=col]))')};
"""


def chart_specs(browser):
    text = browser.run("const data = document.getElementById('chart-data'); return data ? data.textContent : '[]'")
    return json.loads(text)


def check_quiet(browser, url):
    """Nobody was asked for anything, nothing complained, no script of a name ran."""
    alert = browser.alert_text()
    if alert is not None:
        yield f'an alert opened: "{alert}"'
    for complaint in browser.complaints():
        yield f"console: {complaint}"
    requested = browser.requested()
    if url not in requested:
        yield "the log of requests lacks the page itself"
    for address in requested:
        if address != url and not address.startswith("data:"):
            yield f"a request left the page: {address}"
    for name in browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"):
        if not name.startswith("data:"):
            yield f"a resource was loaded: {name}"


def check_outline(browser):
    outline = browser.run(OUTLINE)
    wanted = {"lang": "en", "main": 1, "header": 1, "footer": 1, "skip": True, "unlabelled": 0, "canvases": 0, "scrollers": 0,
              "headless": 0}
    for name, value in wanted.items():
        if outline[name] != value:
            yield f"{name} is {outline[name]}, not {value}"
    if not outline["title"].startswith(outline["h1"]):
        yield f'title "{outline["title"]}" is not that of the heading "{outline["h1"]}"'


def check_width(browser, width):
    wide = browser.run("return document.documentElement.scrollWidth")
    if wide > width:
        yield f"the page is {wide} px wide, the window {width}"


def check_palette(browser):
    yield from palette_problems(browser.run(COLOURS))


def check_canvases(browser, every_series):
    """Each chart is drawn, within the window, with the points of its data; `every_series`: each of them can be seen."""
    colours = browser.run(COLOURS)
    series_colours = [rgb_of(colours[f"series-{place}"]) for place in range(8)]
    canvases = {one["id"]: one for one in browser.run(CANVASES, series_colours)}
    specs = chart_specs(browser)
    if len(canvases) != len(specs):
        yield f"{len(canvases)} canvases for {len(specs)} charts"
    width = browser.run("return document.documentElement.clientWidth")
    for spec in specs:
        canvas = canvases.get(f"chart-{spec['id']}")
        if canvas is None:
            yield f"chart {spec['id']} has no canvas"
            continue
        points = [len(series["y"]) for series in spec["series"]]
        if canvas["points"] != points:
            yield f"chart {spec['id']} has {canvas['points']} points, its data {points}"
        if canvas["width"] < 200 or canvas["height"] < 80 or canvas["right"] > width:
            yield f"chart {spec['id']} is {canvas['width']} x {canvas['height']} px, up to {canvas['right']} of {width}"
        if canvas["colours"] < 3:
            yield f"chart {spec['id']} is empty: {canvas['colours']} colours"
        expected = {series["colour"] % 8 for series in spec["series"] if any(series["y"])}
        unseen = sorted(expected - set(canvas["seen"]))
        if unseen and (every_series or len(unseen) == len(expected)):
            yield f"chart {spec['id']}: nothing has the colours of series {unseen}"


def check_keyboard(browser):
    """The first stop is the skip link; arrow keys walk through a chart; a button of the legend hides its series."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(key):
        ActionChains(browser.driver).send_keys(key).perform()

    browser.run("window.scrollTo(0, 0); document.activeElement.blur()")
    press(Keys.TAB)
    if browser.run("return document.activeElement.className") != "skip":
        yield "the first stop of the keyboard is not the skip link"
    press(Keys.ENTER)
    if browser.run("return document.activeElement.id") != "answer":
        yield "the skip link does not lead to the answer"
    for spec in chart_specs(browser):
        figure = f"document.querySelector('#chart-{spec['id']}')"
        browser.run(f"{figure}.querySelector('canvas').focus()")
        press(Keys.ARROW_RIGHT)
        spoken = browser.run(f"return {figure}.querySelector('[aria-live]').textContent")
        shown = browser.run(f"return Chart.getChart({figure}.querySelector('canvas')).tooltip.opacity")
        if spec["series"][0]["name"] not in spoken or shown != 1:
            yield f'chart {spec["id"]}: an arrow key says "{spoken}" and shows the tooltip with opacity {shown}'
        press(Keys.ESCAPE)
        if browser.run(f"return {figure}.querySelectorAll('.legend button').length") > 0:
            browser.run(f"{figure}.querySelector('.legend button').focus()")
            press(Keys.SPACE)
            visible = browser.run(f"return Chart.getChart({figure}.querySelector('canvas')).isDatasetVisible(0)")
            pressed = browser.run(f"return {figure}.querySelector('.legend button').getAttribute('aria-pressed')")
            if visible or pressed != "false":
                yield f"chart {spec['id']}: its legend does not hide a series ({visible}, {pressed})"
            press(Keys.SPACE)


def check_theme_change(browser, width, every_series):
    """Charts follow the theme while the page is open."""
    for theme in ("dark", "light"):
        browser.set_look(width, theme)
        browser.wait_for_frames()
        for problem in check_canvases(browser, every_series):
            yield f"after a change to {theme}: {problem}"


def check_paper(browser, picture, pdf):
    """In print everything is unfolded, light, and as wide as the paper; afterwards as before."""
    width = 700  # A4 less margins, in CSS pixels
    unfolded = "return document.querySelectorAll('details[open]').length"
    unfolded_before = browser.run(unfolded)
    browser.set_look(width, "dark", media="print")
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    browser.wait_for_frames()
    folded = browser.run("return document.querySelectorAll('details:not([open])').length")
    if folded:
        yield f"{folded} folded parts stay folded on paper"
    if browser.run(COLOURS)["card"] != "#ffffff":
        yield "paper is not light"
    yield from check_canvases(browser, False)
    yield from check_width(browser, width)
    browser.save_picture(picture)
    browser.run("window.dispatchEvent(new Event('afterprint'))")
    browser.set_look(1280, "light")
    if browser.run(unfolded) != unfolded_before:
        yield "what was unfolded for paper stays so"
    browser.command("Emulation.setEmulatedMedia", media="", features=[])
    browser.save_pdf(pdf)


def check_without_scripts(browser, url, picture):
    """All text and numbers are there when no script runs."""
    browser.set_look(1280, "light")
    browser.open(url, with_scripts=False)
    # Scripts of the page are off; what the driver asks still runs.
    seen = browser.run("return {plots: document.querySelectorAll('.plot:not([hidden])').length, "
                       "tables: document.querySelectorAll('figure.chart table').length, "
                       "text: document.querySelector('main').innerText.length}")
    if seen["plots"] or seen["text"] < 100:
        yield f"without scripts: {seen}"
    browser.save_picture(picture)
    browser.command("Emulation.setScriptExecutionDisabled", value=False)


def load_time_ms(browser):
    """From the start of the navigation to the end of the load event, charts drawn."""
    for _ in range(20):
        time_ms = browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd")
        if time_ms > 0:
            return time_ms
        time.sleep(0.05)
    return float("nan")
