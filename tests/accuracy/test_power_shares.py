#!/usr/bin/env python3
"""The shares of power in costmodel/energy.hpp are those that calibration/power_shares.py fits, and stay as good on
deployments left out of the fit as its comment says.

usage: test_power_shares.py [DATA]      Exits with 77, for "skipped", where the measurements are absent.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
KEYS = ("waiting", "compute", "memory")
# In %. Ceilings only go down.
MEAN_ERROR_MAX, MEAN_ERROR_OF_UNSEEN_MAX = 3.8, 5.9

sys.path.insert(0, str(ROOT / "calibration"))
import power_shares  # pylint: disable=wrong-import-position,import-error


def mean_percent(errors):
    errors = [100 * abs(e) for e in errors]
    return sum(errors) / len(errors)


def main():
    data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data"
    table = data / "splitwise-sim" / "perf_model.csv"
    if not table.exists():
        print(f"skipped: {table} is not there")
        return SKIPPED
    header = (ROOT / "costmodel" / "energy.hpp").read_text(encoding="utf-8")
    shipped = {k: float(v) for k, v in re.findall(r"double (\w+) = ([0-9.]+);", header)}
    settings = power_shares.read_settings(table)
    form, start = power_shares.by_activity, (0.3, 0.9, 0.7)
    faults = []
    for key, share in zip(KEYS, power_shares.fit(form, start, settings)):
        if abs(share - shipped[key]) > 0.005:
            faults.append(f"{key} is {shipped[key]} in energy.hpp, and {share:.3f} by the fit")
    shares = [shipped[key] for key in KEYS]
    error = mean_percent(form(shares, s) / s.power - 1 for s in settings)
    unseen = mean_percent(power_shares.left_out(form, start, settings, lambda i, s: s.deployment))
    print(f"mean error {error:.2f} %, {unseen:.2f} % of deployments left out of the fit")
    if error > MEAN_ERROR_MAX or unseen > MEAN_ERROR_OF_UNSEEN_MAX:
        faults.append("the errors are above their ceilings")
    lowest = power_shares.lowest_average(table)
    if shipped["unused"] > lowest:
        faults.append(f"unused is above {lowest}, the lowest average power there is")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
