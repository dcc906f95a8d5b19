#!/usr/bin/env python3
"""The first result that README.md shows is what the quickstart scenario prints, byte for byte.

usage: check_readme.py PROGRAM [--refresh]

--refresh writes it into README.md anew; the numbers in the sentences below it are then to be read again.
"""

import pathlib
import re
import subprocess
import sys

from golden import ROOT

README = ROOT / "README.md"
# The block indented by four spaces, with its blank lines, after the first lines of the section.
SHOWN = re.compile(r"(?<=\n)    quickstart\.yaml: (?:.*\n)(?:    .*\n|\n(?=    ))*")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    printed = subprocess.run(
        [pathlib.Path(sys.argv[1]).resolve(), "run", "scenarios/quickstart.yaml"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    indented = "".join(f"    {line}\n" if line else "\n" for line in printed.rstrip("\n").split("\n"))
    readme = README.read_text(encoding="utf-8")
    shown = SHOWN.search(readme)
    if shown is None:
        sys.exit("README.md shows no result that begins with 'quickstart.yaml: '")
    if shown.group() == indented:
        return
    if "--refresh" in sys.argv[2:]:
        README.write_text(readme[: shown.start()] + indented + readme[shown.end() :], encoding="utf-8")
        return
    sys.exit(f"README.md shows\n\n{shown.group()}\nbut the program prints\n\n{indented}")


if __name__ == "__main__":
    main()
