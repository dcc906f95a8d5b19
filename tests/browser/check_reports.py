#!/usr/bin/env python3
"""Opens reports in a headless Chromium, as at a desk and as on a phone, light and dark, and checks what a reader relies on:
nothing is fetched and nothing complains, every chart is drawn from its data, the page is no wider than the window, names stay
text, keyboard and paper work, numbers are those of results.json.

usage: check_reports.py --out DIR [--sample PROGRAM] [--results FILE] [REPORT...]

  --out DIR          pictures and a PDF of each page are kept there
  --sample PROGRAM   writes a page of all kinds of blocks to the file it is given; that page is checked too, more strictly
  --results FILE     numbers of the reports are compared with this results.json

Exit codes: 0 all is well, 1 something is wrong, 2 usage, 77 skipped, with the reason. Needs Debian's chromium, chromium-driver
and python3-selenium (apt-packages.txt, [browser]).
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import page_checks as checks
from page_numbers import mismatches
from page_source import parsed

SKIPPED = 77
WIDTHS = (1280, 390)
THEMES = ("light", "dark")
# Aims, told and not enforced: time depends on the machine.
LOAD_MS_AIM = 1000
BYTES_MOST = 2_000_000


def source_problems(path, results):
    """Problems of the file as text, and what is worth telling."""
    text = path.read_text(encoding="utf-8")
    page = parsed(text)
    problems = list(page.problems)
    if page.scripts not in (1, 3):
        problems.append(f"{page.scripts} scripts; a page has three, or one without Chart.js")
    size = path.stat().st_size
    if size > BYTES_MOST:
        problems.append(f"{size} bytes, more than {BYTES_MOST}")
    told = [f"{size / 1e3:.0f} kB"]
    if results is not None:
        if not page.traced:
            problems.append("no element has data-field: no number can be compared")
        problems.extend(mismatches(page.traced, results))
        told.append(f"{len(page.traced)} numbers compared with results.json")
    return problems, told


def browser_problems(browser, path, out, strict):
    from selenium.common.exceptions import WebDriverException

    url = path.resolve().as_uri()
    problems, load_ms = [], []

    def note(where, found):
        try:
            problems.extend(f"{where}: {problem}" for problem in found)
        except WebDriverException as error:
            # A page without what the check wants to touch: what is wrong with it has been told before, as a rule.
            problems.append(f"{where}: the check could not go on: {error.msg.splitlines()[0]}")

    for width in WIDTHS:
        for theme in THEMES:
            where = f"{width} px, {theme}"
            browser.set_look(width, theme)
            browser.open(url)
            load_ms.append(checks.load_time_ms(browser))
            browser.wait_for_frames()
            note(where, checks.check_quiet(browser, url))
            note(where, checks.check_width(browser, width))
            note(where, checks.check_palette(browser))
            note(where, checks.check_canvases(browser, strict))
            browser.save_picture(out / f"{path.stem}-{width}-{theme}.png")
    note("outline", checks.check_outline(browser))
    note("theme", checks.check_theme_change(browser, WIDTHS[-1], strict))
    note("keyboard", checks.check_keyboard(browser))
    note("paper", checks.check_paper(browser, out / f"{path.stem}-paper.png", out / f"{path.stem}.pdf"))
    note("console at the end", (f"{complaint}" for complaint in browser.complaints()))
    note("no scripts", checks.check_without_scripts(browser, url, out / f"{path.stem}-without-scripts.png"))
    slow = "" if max(load_ms) < LOAD_MS_AIM else f", ABOVE the aim of {LOAD_MS_AIM} ms"
    return problems, [f"opens in {min(load_ms):.0f} to {max(load_ms):.0f} ms{slow}"]


def open_browser():
    """A browser, or the reason why there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        return None, "no chromium and chromedriver here"
    try:
        from browser import Browser
    except ImportError as error:
        return None, f"no selenium for {sys.executable}: {error}"
    return Browser(chromium, driver), ""


def main():
    parser = argparse.ArgumentParser(description="Checks reports in a headless Chromium.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("reports", nargs="*", type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    reports = [(path, False) for path in arguments.reports]
    if arguments.sample is not None:
        sample = arguments.out / "sample.html"
        subprocess.run([arguments.sample, sample], check=True)
        reports.insert(0, (sample, True))
    if not reports:
        parser.error("name a report, or a program for a sample")
    results = json.loads(arguments.results.read_text(encoding="utf-8")) if arguments.results else None

    browser, reason = open_browser()
    if browser is None:
        print(f"skipped: {reason}")
        return SKIPPED
    count = 0
    try:
        for path, strict in reports:
            problems, told = source_problems(path, None if strict else results)
            more_problems, more_told = browser_problems(browser, path, arguments.out, strict)
            print(f"{path}: {', '.join(told + more_told)}")
            for problem in problems + more_problems:
                print(f"{path}: {problem}")
            count += len(problems) + len(more_problems)
    finally:
        browser.quit()
    print(f"{len(reports)} pages, {count} problems; pictures are in {arguments.out}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
