#!/usr/bin/env python3
"""How far the shipped profiles are from measurements of shapes that were left out of the fit.

usage: accuracy_table.py PROGRAM [--data FOLDER] [--profiles FOLDER] [--quick] [--refresh]

Refits each family and number format of hardware/profiles/<gpu>/<library>.json ten times, each time without a tenth of
the shapes, and predicts those; GEMMs also without a tenth of their points, where other rows of the same weights are
known, and experts also without a tenth of the models, however split. Prints the errors as a table in Markdown and fails when one is above its ceiling, tests/accuracy/ceilings.json, or when
90 % intervals hold other than 85 to 95 % of the measurements.
--data (default ../shared/data) holds aiconfigurator/; exits with 77, for "skipped", where it is absent.
--quick: only bf16 GEMMs and decode attention of vLLM on the H100.
--refresh: writes the table into README.md, between its markers, and ceilings that are new or now lower.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CEILINGS = ROOT / "tests" / "accuracy" / "ceilings.json"
BEGIN, END = "<!-- accuracy: begin -->\n", "<!-- accuracy: end -->\n"
SKIPPED = 77
FOLDS = "10"

FOLDERS = {"a100-80gb-sxm": "a100_sxm", "h100-sxm": "h100_sxm", "h200-sxm": "h200_sxm"}
# As its tables are called.
LIBRARIES = {"vllm": "vllm", "tensorrt-llm": "trtllm"}
QUICK = ("h100-sxm", "vllm")

# Percent. Ceilings have two decimals; another compiler's logarithm may move a figure by less than this.
ROUNDING = 0.05
KEY = ("gpu", "library", "family", "dtype", "split")
FIGURES = ("median", "mean")

# Percent of the measurements that a 90 % interval may hold, and how much further chance may take few of them.
LEAST_COVERED, MOST_COVERED = 85, 95
CHANCE = 2 * 100 * (0.9 * 0.1) ** 0.5


def bf16_rows(table, folder):
    """A table of GEMMs without its rows of other number formats: refitting those takes longer than all the rest."""
    with gzip.open(table, "rt", encoding="utf-8") as lines:
        constants = lines.readline()
        rows = csv.reader(lines)
        header = next(rows)
        kept = [row for row in rows if row[header.index("gemm_dtype")] == "bfloat16"]
    path = folder / table.name.removesuffix(".gz")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(constants)
        csv.writer(file, lineterminator="\n").writerows([header, *kept])
    return path


def tasks(tables, quick, folder):
    """(gpu, library, split, files or folders to read) of every run of `calibrate validate`."""
    if quick:
        gpu, library = QUICK
        gemm = bf16_rows(next((tables / FOLDERS[gpu]).glob("vllm-*_gemm_perf.csv.gz")), folder)
        decode = next((tables / FOLDERS[gpu]).glob("vllm-*_generation_attention_perf.csv.gz"))
        return [(gpu, library, "shape", [gemm]), (gpu, library, "shape", [decode]), (gpu, library, "point", [gemm])]
    found = []
    for gpu, gpu_folder in FOLDERS.items():
        for library, name in LIBRARIES.items():
            gemm = sorted((tables / gpu_folder).glob(f"{name}-*_gemm_perf.csv.gz"))
            found.append((gpu, library, "shape", [tables / gpu_folder]))
            found.append((gpu, library, "point", gemm))
            found.append((gpu, library, "model", sorted((tables / gpu_folder).glob(f"{name}-*_moe_perf.csv.gz"))))
    return found


def errors_of(program, profiles, folder, number, task):
    """Rows of one run, in percent."""
    gpu, library, split, data = task
    file = folder / f"{number}.json"
    command = [program, "calibrate", "validate", profiles / gpu / f"{library}.json", *data]
    command += ["--held-out", FOLDS, "--split", split, "--json", file]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
    errors = []
    for row in json.loads(file.read_text(encoding="utf-8")):
        if row["region"] == "all":
            figures = {name: 100 * row[name] for name in ("median", "mean", "p90", "covered_90")}
            errors.append(
                {"gpu": gpu, "library": library, "family": row["family"], "dtype": row["dtype"], "split": split}
                | {"points": row["n"]} | figures
            )
    return errors


def all_errors(program, profiles, tables, quick):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        work = tasks(tables, quick, folder)
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            runs = [pool.submit(errors_of, program, profiles, folder, i, task) for i, task in enumerate(work)]
            return [row for run in runs for row in run.result()]


def key_of(row):
    return tuple(row[name] for name in KEY)


def markdown(errors):
    """A row a family, format and split, a column a GPU and library."""
    columns = [column for column in ((gpu, library) for gpu in FOLDERS for library in LIBRARIES)
               if any(column == (row["gpu"], row["library"]) for row in errors)]
    kinds = list(dict.fromkeys((row["family"], row["dtype"], row["split"]) for row in errors))
    families = list(dict.fromkeys(family for family, _, _ in kinds))
    kinds.sort(key=lambda kind: (families.index(kind[0]), kind[2] != "shape", kind[1]))
    cells = {(row["family"], row["dtype"], row["split"], row["gpu"], row["library"]): row for row in errors}
    lines = ["| kernels | unseen | " + " | ".join(f"{gpu} {library}" for gpu, library in columns) + " |"]
    lines.append("|---|---|" + "---|" * len(columns))
    for family, dtype, split in kinds:
        unseen = "rows" if split == "point" else "size" if family == "collective" else split
        line = f"| {family.replace('_', ' ')} {dtype} | {unseen} |"
        for column in columns:
            row = cells.get((family, dtype, split, *column))
            line += f" {row['median']:.1f} / {row['mean']:.1f} / {row['covered_90']:.0f} |" if row else " |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def read_ceilings():
    if not CEILINGS.exists():
        return {}
    return {key_of(row): row for row in json.loads(CEILINGS.read_text(encoding="utf-8"))}


def above_ceilings(errors, ceilings):
    """A line a figure that is above its ceiling, or has none."""
    found = []
    for row in errors:
        ceiling = ceilings.get(key_of(row))
        name = " ".join(key_of(row))
        if ceiling is None:
            found.append(f"{name}: has no ceiling; --refresh adds one")
            continue
        for figure in FIGURES:
            if row[figure] > ceiling[figure] + ROUNDING:
                found.append(f"{name}: {figure} error {row[figure]:.2f} % is above its ceiling of {ceiling[figure]} %")
    return found


def ill_covered(errors):
    """A line a kind whose intervals hold too few or too many. They are of unseen shapes: points err less, models more."""
    found = []
    for row in errors:
        slack = CHANCE / row["points"] ** 0.5
        if row["split"] == "shape" and not LEAST_COVERED - slack <= row["covered_90"] <= MOST_COVERED + slack:
            found.append(f"{' '.join(key_of(row))}: its 90 % intervals hold {row['covered_90']:.1f} %")
    return found


def lowered(errors, ceilings):
    """The ceilings, those of errors that are lower or new replaced; none is ever raised."""
    result = dict(ceilings)
    for row in errors:
        key = key_of(row)
        now = {figure: round(row[figure], 2) for figure in FIGURES}
        before = ceilings.get(key, now)
        result[key] = dict(zip(KEY, key)) | {figure: min(now[figure], before[figure]) for figure in FIGURES}
    return [result[key] for key in sorted(result)]


def write_ceilings(rows):
    CEILINGS.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


def write_readme(table):
    text = README.read_text(encoding="utf-8")
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        sys.exit(f"README.md has no place for the table: the lines {BEGIN.strip()} and {END.strip()}")
    README.write_text(text[: begin + len(BEGIN)] + "\n" + table + "\n" + text[end:], encoding="utf-8")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--profiles", type=pathlib.Path, default=ROOT / "hardware" / "profiles")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--refresh", action="store_true")
    options = parser.parse_args()
    if options.quick and options.refresh:
        sys.exit("--refresh takes all profiles, --quick only one")
    tables = options.data / "aiconfigurator" / "csv"
    if not tables.is_dir():
        skip(f"no measured data at {tables}")
    if not list(options.profiles.glob("*/*.json")):
        skip(f"no profile is shipped in {options.profiles}")
    errors = all_errors(options.program.resolve(), options.profiles, tables, options.quick)
    table = markdown(errors)
    print(table, end="")
    ceilings = read_ceilings()
    if options.refresh:
        write_readme(table)
        write_ceilings(lowered(errors, ceilings))
        ceilings = read_ceilings()
    complaints = above_ceilings(errors, ceilings) + ill_covered(errors)
    sys.exit("\n".join(complaints) or 0)


if __name__ == "__main__":
    main()
