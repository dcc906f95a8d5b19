#!/usr/bin/env python3
"""What test_measured_runs.py makes of errors, on figures made up here."""

import unittest

import test_measured_runs as table


def row(median, mean=4.0, **changed):
    key = {"group": "vllm 0.15.1", "saturated": False, "metric": "mean_ttft_ms", "count": 9}
    return key | {"median": median, "mean": mean, "p90": 9.0, "bias": -1.0} | changed


def ceilings_of(*rows):
    return {table.key_of(one): one for one in rows}


SILICON = {"group": "aiconfigurator vllm 0.11", "metric": "mean_tpot_ms"}


class Ceilings(unittest.TestCase):
    def test_a_median_at_its_ceiling_or_a_rounding_above_passes_whatever_the_mean(self):
        for median in (2.0, 1.0, 2.04):
            self.assertEqual(table.above_ceilings([row(median, 90.0)], ceilings_of(row(2.0))), [])
        (complaint,) = table.above_ceilings([row(2.06)], ceilings_of(row(2.0)))
        self.assertEqual(complaint, "vllm 0.15.1, mean_ttft_ms: median error 2.06 % is above its ceiling of 2.0 %")

    def test_the_silicon_tables_tpot_has_a_ceiling_for_its_mean(self):
        (complaint,) = table.above_ceilings([row(2.0, 4.06, **SILICON)], ceilings_of(row(2.0, 4.0, **SILICON)))
        self.assertIn("mean error 4.06 %", complaint)

    def test_saturated_runs_are_other_runs(self):
        complaints = table.above_ceilings([row(2.0, saturated=True)], ceilings_of(row(2.0)))
        self.assertEqual(
            complaints,
            [
                "vllm 0.15.1, mean_ttft_ms, saturated: has no ceiling",
                "vllm 0.15.1, mean_ttft_ms: is not there any more",
            ],
        )

    def test_runs_may_not_get_lost(self):
        (complaint,) = table.above_ceilings([row(2.0, count=8)], ceilings_of(row(2.0)))
        self.assertEqual(complaint, "vllm 0.15.1, mean_ttft_ms: 8 runs, of 9 before")

    def test_ceilings_are_lowered_and_added_and_never_raised(self):
        before = ceilings_of(row(2.0), row(1.0, 3.0, **SILICON))
        after = table.lowered([row(1.504, count=8), row(5.0, 2.5, **SILICON), row(7.0, saturated=True)], before)
        self.assertEqual(
            after,
            [
                SILICON | {"saturated": False, "count": 9, "median": 1.0, "mean": 2.5},
                {"group": "vllm 0.15.1", "saturated": False, "metric": "mean_ttft_ms", "count": 9, "median": 1.5},
                {"group": "vllm 0.15.1", "saturated": True, "metric": "mean_ttft_ms", "count": 9, "median": 7.0},
            ],
        )


if __name__ == "__main__":
    unittest.main()
