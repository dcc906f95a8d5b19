#!/usr/bin/env python3
"""`inferometer calibrate fit` and `validate` from end to end, on small tables made up from a roofline.

usage: check_calibrate_fit.py PROGRAM
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
LONGEST_WAIT_SECONDS = 60

H100 = "NVIDIA H100 80GB HBM3"
A100 = "NVIDIA A100-SXM4-80GB"
LAUNCH_MS = 0.006
PEAK_FLOPS_PER_MS = 989e9 * 0.6
BYTES_PER_MS = 3.35e9 * 0.8
LINK_BYTES_PER_MS = 450e6 * 0.8

ROW_KEYS = ["family", "dtype", "region", "n", "bias", "median", "mean", "p90", "covered_90"]


def run(*arguments):
    return subprocess.run(
        [PROGRAM, "calibrate", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST_WAIT_SECONDS,
        check=False,
    )


def gemm_table(device=H100, framework="VLLM", version="0.24.0"):
    """Three sizes of m for each of twelve shapes, in the form of aiconfigurator's tables."""
    lines = [f"# framework={framework};version={version};device={device};op_name=gemm"]
    lines.append("kernel_source,gemm_dtype,m,n,k,latency")
    for m in (1, 128, 4096):
        for n in (1024, 2048, 4096, 8192):
            for k in (512, 4096, 16384):
                compute = 2 * m * n * k / PEAK_FLOPS_PER_MS
                memory = 2 * (m * n + n * k + m * k) / BYTES_PER_MS
                lines.append(f"linear,bfloat16,{m},{n},{k},{LAUNCH_MS + max(compute, memory):.7f}")
    return "\n".join(lines) + "\n"


def gather_table():
    """All-gathers of NCCL on two GPUs; sizes are in elements of two bytes."""
    lines = [f"# framework=TRTLLM;version=2.29.2;device={H100};op_name=all_gather;kernel_source=NCCL"]
    lines.append("nccl_dtype,num_gpus,message_size,latency")
    for exponent in range(10, 24, 2):
        latency = LAUNCH_MS + 2**exponent / LINK_BYTES_PER_MS
        lines.append(f"half,2,{2**exponent},{latency:.7f}")
    return "\n".join(lines) + "\n"


class CalibrateCase(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"
        self.data.mkdir()
        (self.data / "gemm_perf.csv").write_text(gemm_table(), encoding="utf-8")
        self.profile = self.folder / "profile.json"

    def fit(self, *arguments):
        done = run("fit", self.data, "--out", self.profile, "--date", "2026-11-30", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, *arguments):
        """The message of a call that is a mistake: exit code 2, one line, nothing on stdout."""
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"^error: [^\n]+\n$")
        return done.stderr


class Fit(CalibrateCase):
    def test_a_profile_says_what_it_is_of_and_from(self):
        done = self.fit("--notice", "ours")
        profile = json.loads(self.profile.read_text(encoding="utf-8"))
        self.assertEqual(profile["schema"], "inferometer-profile/1")
        self.assertEqual((profile["gpu"], profile["library"]), ("h100-sxm", "vllm"))
        self.assertEqual(profile["date"], "2026-11-30")
        source = {"library": "vllm 0.24.0", "source": "ai-dynamo/aiconfigurator", "notice": "ours"}
        self.assertEqual(profile["sources"], [source])
        (fit,) = profile["fits"]
        self.assertEqual((fit["family"], fit["variant"], fit["points"]), ("gemm", "bf16", 36))
        self.assertEqual(fit["range"], {"m": [1, 4096], "n": [1024, 8192], "k": [512, 16384]})
        # The roofline that the tables were made from, found again.
        self.assertAlmostEqual(fit["roofline"]["start_up_us"], 6, delta=0.1)
        self.assertAlmostEqual(fit["roofline"]["compute_efficiency"], 0.6, delta=0.01)
        self.assertAlmostEqual(fit["roofline"]["bandwidth_efficiency"], 0.8, delta=0.01)
        self.assertIn("vllm kernels on h100-sxm, fitted 2026-11-30", done.stdout)
        self.assertIn(f"written to {self.profile}", done.stdout)
        self.assertEqual(done.stderr, "fitting gemm bf16, 36 points\n")

    def test_the_same_tables_give_the_same_bytes_and_stay_as_they_are(self):
        before = (self.data / "gemm_perf.csv").read_bytes()
        self.fit()
        first = self.profile.read_bytes()
        self.fit()
        self.assertEqual(self.profile.read_bytes(), first)
        self.assertEqual((self.data / "gemm_perf.csv").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["data", "profile.json"])

    def test_a_family_is_borrowed_from_another_library(self):
        (self.data / "nccl_perf.csv").write_text(gather_table(), encoding="utf-8")
        self.fit("--library", "vllm", "--borrow", "nccl:collective")
        profile = json.loads(self.profile.read_text(encoding="utf-8"))
        self.assertEqual([fit["family"] for fit in profile["fits"]], ["gemm", "collective"])
        self.assertEqual([source["library"] for source in profile["sources"]], ["vllm 0.24.0", "nccl 2.29.2"])

    def test_mistakes_are_told(self):
        (self.folder / "empty").mkdir()
        (self.folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        out = ("--out", self.folder / "new.json")
        for arguments, says in (
            ((), "data"),
            ((self.data,), "--out"),
            ((self.data, *out, "--folds", "1"), "--folds"),
            ((self.data, *out, "--folds", "many"), "--folds"),
            ((self.data, *out, "--fold", "3"), "--fold"),
            ((self.data, *out, "--borrow", "nccl"), "LIBRARY:FAMILY"),
            ((self.data, *out, "--borrow", ":gemm"), "LIBRARY:FAMILY"),
            ((self.data, *out, "--borrow", "nccl:colective"), 'did you mean "collective"'),
            ((self.data, *out, "--library", "vlm"), 'did you mean "vllm"'),
            ((self.data, *out, "--gpu", "h200-sxm"), "h200-sxm"),
            ((self.data, *out, "--date", "yesterday"), "YYYY-MM-DD"),
            ((self.data, *out, "--date", "2026-11-301"), "YYYY-MM-DD"),
            ((self.folder / "none", *out), "none"),
            ((self.folder / "empty", *out), "empty"),
            ((self.folder / "other.csv", *out), "other.csv"),
        ):
            with self.subTest(arguments):
                self.assertIn(says, self.refused("fit", *arguments))
        self.assertFalse((self.folder / "new.json").exists())

    def test_a_profile_in_the_place_of_another_is_refused(self):
        self.fit()
        place = self.folder / "hardware" / "profiles" / "a100-80gb-sxm" / "vllm.json"
        place.parent.mkdir(parents=True)
        self.profile.rename(place)
        done = subprocess.run(
            [PROGRAM, *"roofline --model llama-3-8b --gpu a100-80gb-sxm --decode 1@1".split()],
            env={**os.environ, "INFEROMETER_DATA_DIR": str(self.folder)},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(f"{place}: this profile is of vllm kernels on h100-sxm", done.stderr)

    def test_two_libraries_are_to_be_chosen_from(self):
        (self.data / "more_perf.csv").write_text(gemm_table(framework="TRTLLM"), encoding="utf-8")
        message = self.refused("fit", self.data, "--out", self.profile)
        for word in ("tensorrt-llm", "vllm", "--library"):
            self.assertIn(word, message)

    def test_a_fit_that_fails_leaves_what_was_there(self):
        self.profile.write_text("precious", encoding="utf-8")
        bad = gemm_table().replace("linear,bfloat16,1,1024,512,", "linear,bfloat16,1,1024,512,-", 1)
        (self.data / "gemm_perf.csv").write_text(bad, encoding="utf-8")
        message = self.refused("fit", self.data, "--out", self.profile)
        self.assertIn("gemm_perf.csv:3", message)
        self.refused("fit", self.data, "--out", self.profile, "--borrow", "nccl")
        self.assertEqual(self.profile.read_text(encoding="utf-8"), "precious")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["data", "profile.json"])

    def test_a_place_that_cannot_be_written_is_told_before_anything_is_fitted(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        place = self.folder / "file" / "profile.json"
        done = run("fit", self.data, "--out", place)
        self.assertIn(done.returncode, (1, 2))
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^error: [^\n]+\n$")
        self.assertIn(str(place), done.stderr)

    def test_a_folder_is_not_replaced_by_a_profile(self):
        done = run("fit", self.data, "--out", self.data)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(str(self.data), done.stderr)
        self.assertTrue((self.data / "gemm_perf.csv").exists())


class Validate(CalibrateCase):
    def setUp(self):
        super().setUp()
        self.fit()

    def rows(self, *arguments):
        file = self.folder / "errors.json"
        done = run("validate", self.profile, self.data, "--json", file, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(file.read_text(encoding="utf-8")), done.stdout

    def test_errors_as_a_table_and_as_json(self):
        rows, text = self.rows()
        for row in rows:
            self.assertEqual(list(row), ROW_KEYS)
            self.assertEqual((row["family"], row["dtype"]), ("gemm", "bf16"))
        counts = {row["region"]: row["n"] for row in rows}
        self.assertEqual(counts, {"all": 36, "m to 64": 12, "m 65 to 512": 12, "m above 512": 12})
        self.assertLess(rows[0]["median"], 0.02)  # what it was fitted to
        self.assertRegex(text, r"(?m)^gemm +bf16 +m to 64 +12 ")
        self.assertIn("points by predicted / measured", text)

    def test_held_out_by_shape_and_by_point(self):
        for split in ("shape", "point"):
            with self.subTest(split):
                rows, _ = self.rows("--held-out", "3", "--split", split)
                self.assertEqual(rows[0]["region"], "all")
                self.assertEqual(rows[0]["n"], 36)
                self.assertLess(rows[0]["median"], 0.05)
        by_shape, _ = self.rows("--held-out", "3")
        self.assertEqual(by_shape, self.rows("--held-out", "3", "--split", "shape")[0])

    def test_times_twice_as_long_are_seen(self):
        lines = gemm_table().splitlines()
        for i, line in enumerate(lines[2:], start=2):
            row, latency = line.rsplit(",", 1)
            lines[i] = f"{row},{2 * float(latency)}"
        (self.data / "gemm_perf.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows, _ = self.rows()
        self.assertAlmostEqual(rows[0]["median"], 0.5, delta=0.02)
        self.assertEqual(rows[0]["covered_90"], 0)

    def test_mistakes_are_told(self):
        cut_off = self.folder / "cut.json"
        cut_off.write_text(self.profile.read_text(encoding="utf-8")[:-100], encoding="utf-8")
        elsewhere = self.folder / "a100_perf.csv"
        elsewhere.write_text(gemm_table(device=A100, version="0.14.0"), encoding="utf-8")
        for arguments, says in (
            ((), "profile"),
            ((self.profile,), "data"),
            ((self.folder / "none.json", self.data), "none.json"),
            ((self.data / "gemm_perf.csv", self.data), "no profile of kernels"),
            ((cut_off, self.data), "cut.json"),
            ((self.profile, self.folder / "none"), "none"),
            ((self.profile, elsewhere), "nothing to compare"),
            ((self.profile, self.data, "--held-out", "1"), "--held-out"),
            ((self.profile, self.data, "--held-out", "3", "--split", "rows"), "--split"),
            ((self.profile, self.data, "--jsn", "x"), "--jsn"),
        ):
            with self.subTest(arguments):
                self.assertIn(says, self.refused("validate", *arguments))

    def test_a_command_of_calibrate_is_needed(self):
        self.refused()
        self.refused("fti")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
