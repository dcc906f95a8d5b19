#!/usr/bin/env python3
"""What calibration/accuracy_table.py makes of errors, on figures made up here."""

import contextlib
import gzip
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "calibration" / "accuracy_table.py"
_spec = importlib.util.spec_from_file_location("accuracy_table", SOURCE)
table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(table)


def row(median, mean, **changed):
    figures = {"points": 100, "median": median, "mean": mean, "p90": 9.0, "covered_90": 90.4}
    key = {"gpu": "h100-sxm", "library": "vllm", "family": "gemm", "dtype": "bf16", "split": "shape"}
    return key | figures | changed


def ceilings_of(*rows):
    return {table.key_of(one): one for one in rows}


class Ceilings(unittest.TestCase):
    def test_an_error_at_its_ceiling_or_a_rounding_above_passes(self):
        ceilings = ceilings_of(row(2.0, 4.0))
        for median, mean in ((2.0, 4.0), (1.0, 3.0), (2.04, 4.04)):
            self.assertEqual(table.above_ceilings([row(median, mean)], ceilings), [])

    def test_an_error_above_its_ceiling_is_named(self):
        ceilings = ceilings_of(row(2.0, 4.0))
        (complaint,) = table.above_ceilings([row(2.06, 4.0)], ceilings)
        self.assertEqual(
            complaint, "h100-sxm vllm gemm bf16 shape: median error 2.06 % is above its ceiling of 2.0 %"
        )
        (complaint,) = table.above_ceilings([row(2.0, 4.06)], ceilings)
        self.assertIn("mean error 4.06 %", complaint)

    def test_an_error_without_a_ceiling_is_named(self):
        (complaint,) = table.above_ceilings([row(2.0, 4.0, split="point")], ceilings_of(row(9.0, 9.0)))
        self.assertIn("gemm bf16 point: has no ceiling", complaint)

    def test_ceilings_are_lowered_and_added_and_never_raised(self):
        before = ceilings_of(row(2.0, 4.0), row(1.0, 1.0, dtype="fp8"))
        after = table.lowered([row(1.504, 5.0), row(3.0, 3.0, split="point")], before)
        self.assertEqual(
            [(one["dtype"], one["split"], one["median"], one["mean"]) for one in after],
            [("bf16", "point", 3.0, 3.0), ("bf16", "shape", 1.5, 4.0), ("fp8", "shape", 1.0, 1.0)],
        )

    def test_those_that_are_stored_are_whole(self):
        stored = json.loads(table.CEILINGS.read_text(encoding="utf-8"))
        self.assertEqual(len({table.key_of(one) for one in stored}), len(stored))
        for one in stored:
            self.assertEqual(list(one), [*table.KEY, *table.FIGURES])
            self.assertTrue(0 < one["median"] < 30 and 0 < one["mean"] < 50)


class Coverage(unittest.TestCase):
    def test_intervals_hold_nine_in_ten_but_for_chance(self):
        # Twice the standard deviation of a share of 0.9: 6 % of 100 points, 0.6 % of 10,000.
        for points, covered, is_good in (
            (10_000, 85, True), (10_000, 84.3, False), (10_000, 95, True), (10_000, 95.7, False),
            (100, 79.1, True), (100, 78.9, False),
        ):
            complaints = table.ill_covered([row(1, 1, points=points, covered_90=covered)])
            self.assertEqual(not complaints, is_good, (points, covered))

    def test_points_of_known_shapes_may_be_covered_better(self):
        self.assertEqual(table.ill_covered([row(1, 1, split="point", covered_90=99)]), [])


class Markdown(unittest.TestCase):
    def test_a_row_a_kind_a_column_a_profile(self):
        text = table.markdown([row(2.04, 4.06), row(1, 2, split="point"), row(5, 6, gpu="a100-80gb-sxm")])
        self.assertEqual(
            text,
            "| kernels | unseen | a100-80gb-sxm vllm | h100-sxm vllm |\n"
            "|---|---|---|---|\n"
            "| gemm bf16 | shape | 5.0 / 6.0 / 90 | 2.0 / 4.1 / 90 |\n"
            "| gemm bf16 | rows | | 1.0 / 2.0 / 90 |\n",
        )


class Files(unittest.TestCase):
    def test_only_bf16_rows_are_kept(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            with gzip.open(folder / "t_gemm_perf.csv.gz", "wt", encoding="utf-8") as file:
                file.write("# a=b;c=d\nm,gemm_dtype,latency\n1,bfloat16,2\n1,fp8,3\n2,bfloat16,4\n")
            kept = table.bf16_rows(folder / "t_gemm_perf.csv.gz", folder)
            text = kept.read_text(encoding="utf-8")
        self.assertEqual(text, "# a=b;c=d\nm,gemm_dtype,latency\n1,bfloat16,2\n2,bfloat16,4\n")

    def test_absent_measurements_are_a_reason_to_skip(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed, self.assertRaises(SystemExit) as left:
            table.skip("no measured data at /nowhere")
        self.assertEqual(left.exception.code, table.SKIPPED)
        self.assertEqual(printed.getvalue(), "skipped: no measured data at /nowhere\n")


if __name__ == "__main__":
    unittest.main()
