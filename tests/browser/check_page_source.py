#!/usr/bin/env python3
"""The sample page, as text: well-formed, and nothing in it leads out of it. check_reports.py opens it in a browser.

usage: check_page_source.py PROGRAM
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from page_source import parsed


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.html"
        subprocess.run([sys.argv[1], path], check=True)
        page = parsed(path.read_text(encoding="utf-8"))
    for problem in page.problems:
        print(problem)
    print(f"{len(page.ids)} ids, {len(page.headings)} headings, {len(page.traced)} numbers of results.json, "
          f"{len(page.problems)} problems")
    return 1 if page.problems or not page.traced else 0


if __name__ == "__main__":
    sys.exit(main())
