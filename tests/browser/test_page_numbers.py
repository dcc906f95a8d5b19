#!/usr/bin/env python3
"""Tests of what the browser check is made of that needs no browser: page_numbers.py, page_source.py."""

import unittest

from page_numbers import field_of, mismatches, shows
from page_source import parsed

RESULTS = {"metrics": {"p99_ttft_ms": 220.4312, "partial": True}, "slo": [{"value": 0.9876}], "duration": 7260.0, "none": None}
PAGE = '<!DOCTYPE html><html lang="en"><head><title>t</title></head><body><h1>t</h1>{}</body></html>'


class Numbers(unittest.TestCase):
    def test_fields_are_found_by_path(self):
        self.assertEqual(field_of(RESULTS, "slo.0.value"), 0.9876)
        for missing in ("slo.1.value", "metrics.none", "slo.x"):
            with self.assertRaises((KeyError, IndexError, ValueError)):
                field_of(RESULTS, missing)

    def test_rounded_numbers_are_the_same(self):
        for text, value in [("220 ms", 220.4312), ("220.4 ms", 220.4312), ("98.8 %", 0.9876), ("0.220 s", 220.4312),
                            ("12,345", 12345.4), ("16,100", 16069.2), ("2.02 h", 7260.0), ("0", 0.0), ("-3.0 %", -0.03)]:
            self.assertTrue(shows(text, value), text)

    def test_other_numbers_are_not(self):
        for text, value in [("221 ms", 220.4312), ("220.5 ms", 220.4312), ("98.8", 0.9876), ("0.98 %", 0.9876), ("none", 1.0),
                            ("22.0 ms", 220.4312), ("3.0 %", -0.03), ("12,400", 12345.4)]:
            self.assertFalse(shows(text, value), text)

    def test_every_disagreement_is_told(self):
        good = ["metrics.p99_ttft_ms", "220.4312", "220 ms"]
        self.assertEqual(list(mismatches([good], RESULTS)), [])
        for bad in (["metrics.p99_ttft_ms", "220.4", "220 ms"], ["metrics.p99_ttft_ms", "220.4312", "120 ms"],
                    ["metrics.gone", "1", "1"], ["none", "1", "1"], ["metrics.partial", "1", "1"]):
            self.assertEqual(len(list(mismatches([good, bad], RESULTS))), 1, bad)


class Source(unittest.TestCase):
    def test_a_page_in_order_has_no_problems(self):
        self.assertEqual(parsed(PAGE.format("<h2>a</h2><h3>b</h3><p id='x'>1</p>")).problems, [])

    def test_each_disorder_is_told(self):
        for wrong in ("<p><span></p></span>", "<p>", "</p>", "<script src='x.js'></script>", "<a href='https://x'>a</a>",
                      "<img alt=''>", "<p onclick='x'></p>", "<p style='x'></p>", "<h3>skipped</h3>", "<h1>two</h1>",
                      "<p id='x'></p><p id='x'></p>", "<p class='a' class='b'></p>"):
            self.assertNotEqual(parsed(PAGE.format(wrong)).problems, [], wrong)

    def test_traced_elements_have_their_own_text(self):
        page = parsed(PAGE.format('<p data-field="a.b" data-value="1.5"><span>bad: </span>1.50 s</p><p>2</p>'))
        self.assertEqual(page.traced, [["a.b", "1.5", "1.50 s"]])


if __name__ == "__main__":
    unittest.main()
