#!/usr/bin/env python3
"""`inferometer describe`: every name it offers, and the JSON Schema against every scenario.

usage: check_describe.py PROGRAM

The schema is applied with the Python packages jsonschema and yaml where these are installed; where not, only the names
of keys are compared with it.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Without studies, which lay variants or candidates over a scenario.
SCENARIOS = sorted(
    path
    for path in (ROOT / "scenarios").glob("*.yaml")
    if not re.search(r"^(variants|candidates)\s*:", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def describe(*arguments):
    return subprocess.run(
        [PROGRAM, "describe", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def sections():
    """The names that the overview offers, from its last line."""
    last = describe().stdout.strip().splitlines()[-1]
    return last.rstrip(".").replace(" or ", ", ").split(", ")


class Describe(unittest.TestCase):
    def test_the_overview_has_every_key_of_the_top(self):
        done = describe()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for key in whole_schema()["properties"]:
            self.assertRegex(done.stdout, rf"(?m)^ +{key} ", key)

    def test_every_section_can_be_described(self):
        built_in = ["models", "gpus", "clusters", "networks", "policies", "routers", "workloads", "compare", "plan", "presets", "vllm-args", "runs"]
        self.assertEqual(sections(), built_in)
        names = [name for name, part in whole_schema()["properties"].items() if part.get("type") == "object"]
        self.assertIn("engine", names)
        for name in sections() + names:
            with self.subTest(name):
                done = describe(name)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(len(done.stdout.splitlines()), 1)

    def test_everything_built_in_is_listed(self):
        models = sorted(path.parent.name for path in (ROOT / "costmodel" / "models").glob("*/config.json"))
        gpus = sorted(path.stem for path in (ROOT / "hardware" / "gpus").glob("*.yaml"))
        clusters = sorted(path.stem for path in (ROOT / "hardware" / "clusters").glob("*.yaml"))
        for section, names in (("models", models), ("gpus", gpus), ("clusters", clusters)):
            listed = [line.split()[0] for line in describe(section).stdout.splitlines() if line.strip()]
            self.assertEqual([name for name in names if name not in listed], [], section)

    def test_the_networks_are_listed(self):
        listed = describe("networks").stdout
        for name in ("ideal", "simgrid", "none"):
            self.assertRegex(listed, rf"(?m)^{name} ", name)

    def test_the_routers_are_listed_with_their_keys(self):
        listed = describe("routers").stdout
        for file in (ROOT / "sim" / "router" / "impl").glob("*.cpp"):
            self.assertRegex(listed, rf"(?m)^{file.stem} ", file.stem)
        for key in ("policy", "state_interval", "load"):
            self.assertRegex(listed, rf"(?m)^  {key} ", key)

    def test_the_trace_formats_are_listed(self):
        listed = describe("workloads").stdout
        for name in ("inferometer", "azure", "burstgpt", "mooncake", "aiperf", "qwen_bailian", "vidur", "lengths"):
            self.assertRegex(listed, rf"(?m)^{name} ", name)
        self.assertIn("arrival_s,prompt_tokens,output_tokens", listed)

    def test_a_described_policy_is_one_that_can_be_run(self):
        policies = [line.split()[0] for line in describe("policies").stdout.splitlines()[1:] if line[:1].isalpha()]
        for policy in policies[: policies.index("shortest_job_first") + 1]:
            done = subprocess.run(
                [PROGRAM, "run", SCENARIOS[0], "--quiet", "--set", f"engine.policy={policy}"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), policy)


def schema():
    return json.loads(describe("--json-schema").stdout)


def whole_schema():
    """That of a scenario that stands alone."""
    return schema()["else"]


def resolved(scenario):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([PROGRAM, "run", scenario, "--quiet", "--out", out], check=True, timeout=60)
        results = json.loads((pathlib.Path(out) / "results.json").read_text(encoding="utf-8"))
    return results["resolved_scenario"]


def known_keys(part):
    """All keys that a section of the schema knows, with those of its conditions."""
    keys = {name: rule for name, rule in part.get("properties", {}).items() if rule is not False}
    for nested in part.get("allOf", []) + part.get("oneOf", []) + part.get("anyOf", []):
        keys.update(known_keys(nested))
    for branch in ("then", "else"):
        if branch in part:
            keys.update(known_keys(part[branch]))
    return keys


class JsonSchema(unittest.TestCase):
    def test_it_is_a_schema_that_names_its_dialect(self):
        self.assertEqual(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(whole_schema()["type"], "object")
        self.assertEqual(whole_schema()["required"], ["model", "hardware", "workload"])

    def test_it_knows_every_key_of_every_scenario(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario.name):
                self.compare(whole_schema(), resolved(scenario), "")

    def compare(self, part, value, path):
        keys = known_keys(part)
        for key, below in value.items():
            self.assertIn(key, keys, f"{path}{key} is not in the schema")
            if isinstance(below, dict):
                self.compare(keys[key], below, f"{path}{key}.")

    def test_it_accepts_every_scenario_and_refuses_wrong_ones(self):
        try:
            import jsonschema  # pylint: disable=import-outside-toplevel
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError as missing:
            self.skipTest(f"the Python package {missing.name} is not installed")
        validator = jsonschema.Draft202012Validator(schema())
        for scenario in SCENARIOS:
            as_written = yaml.safe_load(scenario.read_text(encoding="utf-8"))
            for value in (as_written, resolved(scenario)):
                faults = [fault.message for fault in validator.iter_errors(value)]
                self.assertEqual(faults, [], scenario.name)
        for section, key, wrong in (
            ("engine", "max_num_seq", 4),
            ("engine", "max_num_seqs", 0),
            ("engine", "policy", "sarahti"),
            ("engine", "chunk_size", 512),
            ("workload", "rate", 12),
            ("workload", "rate", "12 tok/s"),
        ):
            value = resolved(ROOT / "scenarios" / "quickstart.yaml")
            value[section][key] = wrong
            self.assertFalse(validator.is_valid(value), f"{section}.{key}: {wrong}")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
