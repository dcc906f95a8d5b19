#!/usr/bin/env python3
"""Runs calibration/device_check.sh over stand-ins for the GPU, the compiler and what is built: that every part is run,
whatever came of those before it, that the summary says so, and which files are left."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "calibration" / "device_check.sh"

# Each writes down how it was called, does what a variable of the environment says, then its usual work.
STAND_INS = {
    "nvidia-smi": """
case "$*" in *compute_cap*) echo "NVIDIA ${GPU:-H200, 9.0}" ;; *) echo "a table of nvidia-smi" ;; esac
""",
    "nvcc": "",
    "cmake": """
build=$4
mkdir -p "$build/tests/cuda" "$build/calibration/device" "$build/Testing/Temporary"
: > "$build/Testing/Temporary/LastTest.log"
echo 'const BuildFacts kBuildFacts = {.source_hash = "sha256:abc1"};' > "$build/calibration/device/build_facts.cpp"
""",
    "ninja": """
case "$*" in *"-t targets all"*) printf 'all: phony\\ntest_cuda_dense: phony\\ntest_cuda_decode: phony\\n'; exit ;; esac
touch "$2/inferometer_cuda.so"
for program in test_cuda_dense test_cuda_decode; do
  touch "$2/tests/cuda/$program"
  chmod +x "$2/tests/cuda/$program"
done
cp "$(dirname "$0")/inferometer" "$2/inferometer"
""",
    "inferometer": """
out=$8
mkdir -p "$out"
for family in gemm prefill_attention decode_attention elementwise collective; do
  [ -e "$out/h200-sxm.inferometer.$family.jsonl" ] && continue
  echo '{"schema":"inferometer-measurements/1","source_hash":"sha256:abc1"}' > "$out/h200-sxm.inferometer.$family.jsonl"
done
echo profile > "$out/profile.json"
echo "how good the profile is" > "$out/summary.txt"
""",
    "ctest": "",
    "compute-sanitizer": "",
}
HEAD = """#!/bin/sh
echo "$0 $*" >> "$CALLS"
eval "${DOES-}"
"""


class DeviceCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.out = self.root / "out"
        (self.root / "calibration").mkdir()
        self.script = self.root / "calibration" / "device_check.sh"
        shutil.copy(SCRIPT, self.script)
        (self.root / "bin").mkdir()
        for name, body in STAND_INS.items():
            variable = name.upper().replace("-", "_") + "_DOES"
            (self.root / "bin" / name).write_text(HEAD.replace("DOES", variable) + body, encoding="utf-8")
            (self.root / "bin" / name).chmod(0o755)

    def run_check(self, **environment):
        """Exit code and words."""
        (self.root / "calls").write_text("", encoding="utf-8")
        done = subprocess.run(
            ["bash", self.script],
            env={
                "PATH": f"{self.root}/bin:/usr/bin:/bin",
                "CALLS": str(self.root / "calls"),
                "OUT": str(self.out),
                "HOME": os.environ.get("HOME", "/"),
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def calls(self, program):
        lines = (self.root / "calls").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.split()[0].endswith("/" + program)]

    def assert_summary(self, words, **outcomes):
        """Outcome of each part as the last lines say, `passed` for those not named."""
        usual = dict.fromkeys(
            ["configure", "build", "tests", "calibration", "memcheck", "racecheck", "synccheck"], "passed"
        )
        lines = words.splitlines()[-len(usual) :]
        found = {line.split()[0]: line.split(maxsplit=3)[3] for line in lines}
        self.assertEqual(found, {**usual, **outcomes})
        self.assertEqual((self.out / "summary.txt").read_text(encoding="utf-8").splitlines()[-len(usual) :], lines)

    def test_without_a_gpu(self):
        code, words = self.run_check(NVIDIA_SMI_DOES="echo NVIDIA-SMI has failed; exit 9")
        line = "device check: skipped: no GPU here (nvidia-smi: NVIDIA-SMI has failed)\n"
        self.assertEqual((code, words), (77, line))
        code, words = self.run_check(GPU="T4, 7.5")
        self.assertEqual(code, 77)
        self.assertIn("NVIDIA T4 has compute capability 7.5; the kernels need 8.0 or above", words)

    def test_all_passes(self):
        code, words = self.run_check()
        self.assert_summary(words)
        self.assertEqual(code, 0)
        self.assertIn("how good the profile is", words)
        self.assertEqual(words.count("a table of nvidia-smi"), 2)
        wanted = "-k 0 inferometer inferometer_cuda test_cuda_dense test_cuda_decode"
        self.assertEqual(len([call for call in self.calls("ninja") if call.endswith(wanted)]), 1)
        self.assertIn("calibrate run --gpu 0 --budget 120 s --out", self.calls("inferometer")[0])
        files = [path for path in self.out.rglob("*") if path.is_file()]
        self.assertEqual(len(files), 8, files)
        for path in files:
            self.assertRegex(str(path.relative_to(self.out)), r"^([A-Za-z0-9._-]+/)?[A-Za-z0-9._-]+$")

    def test_compiles_for_the_gpu_that_is_there(self):
        for gpu, architecture in {"A100, 8.0": "80", "H100, 9.0": "90a", "L4, 8.9": "80", "B200, 10.0": "80"}.items():
            with self.subTest(gpu):
                self.run_check(GPU=gpu)
                self.assertIn(f"-DINFEROMETER_CUDA_ARCHITECTURES={architecture} ", self.calls("cmake")[0])

    def test_calibrates_although_something_failed(self):
        code, words = self.run_check(CTEST_DOES="echo wrong; exit 8")
        self.assertEqual(code, 1)
        self.assert_summary(words, tests="FAILED: exit code 8")
        self.assertIn("calibrating although something failed", words)
        # Something else fails to compile.
        code, words = self.run_check(NINJA_DOES='case "$*" in *targets*) ;; *) trap "exit 1" EXIT ;; esac')
        self.assertEqual(code, 1)
        self.assert_summary(words, build="FAILED: exit code 1")

    def test_what_is_not_built_is_said(self):
        code, words = self.run_check(NINJA_DOES='case "$*" in *targets*) ;; *) exit 1 ;; esac')
        self.assertEqual(code, 1)
        failed = "FAILED: exit code 1"
        self.assert_summary(words, build=failed, tests=failed, calibration=failed)
        self.assertIn("device check: test_cuda_decode was not built", words)

    def test_a_part_that_hangs_costs_its_own_time(self):
        text = self.script.read_text(encoding="utf-8")
        self.script.write_text(text.replace("tests_s=100", "tests_s=1").replace("sanitizer_s=30", "sanitizer_s=1"))
        code, words = self.run_check(
            CTEST_DOES="sleep 60", COMPUTE_SANITIZER_DOES='case "$*" in *racecheck*) sleep 60 ;; esac'
        )
        self.assertEqual(code, 1)
        self.assert_summary(words, tests="FAILED: out of time", racecheck="FAILED: out of time")

    def test_what_the_sanitizer_finds_outweighs_what_hangs(self):
        text = self.script.read_text(encoding="utf-8")
        self.script.write_text(text.replace("sanitizer_s=30", "sanitizer_s=1"))
        for hangs, finds in (("dense", "decode"), ("decode", "dense")):
            does = f'case "$*" in *racecheck*{hangs}*) sleep 60 ;; *racecheck*{finds}*) exit 1 ;; esac'
            code, words = self.run_check(COMPUTE_SANITIZER_DOES=does)
            self.assertEqual(code, 1)
            self.assert_summary(words, racecheck="FAILED: exit code 1")

    def test_no_time_left(self):
        text = self.script.read_text(encoding="utf-8")
        self.script.write_text(text.replace("all_s=520", "all_s=0"))
        code, words = self.run_check()
        self.assertEqual(code, 1)
        self.assertEqual(words.splitlines()[-1].split(maxsplit=3)[3], "FAILED: out of time")

    def test_sanitizer(self):
        code, words = self.run_check(COMPUTE_SANITIZER_DOES='case "$*" in *racecheck*decode*) exit 1 ;; esac')
        self.assertEqual(code, 1)
        self.assert_summary(words, racecheck="FAILED: exit code 1")
        code, words = self.run_check(COMPUTE_SANITIZER_DOES="echo No test cases matched")
        self.assertEqual(code, 1)
        failed = "FAILED: exit code 1"
        self.assert_summary(words, memcheck=failed, racecheck=failed, synccheck=failed)

    def test_cases_that_the_sanitizer_runs_are_there(self):
        text = self.script.read_text(encoding="utf-8")
        named = re.findall(r"^(test_cuda_\w+) (.*)$", text, flags=re.MULTILINE)
        self.assertGreater(len(named), 5)
        lists = (ROOT / "tests" / "cuda" / "CMakeLists.txt").read_text(encoding="utf-8")
        for program, case in named:
            sources = re.search(rf"inferometer_test\({program.removeprefix('test_')}\s+SOURCES([^)]*)", lists)[1]
            cases = set()
            for source in re.findall(r"\w+\.cpp", sources):
                cases |= set(re.findall(r'TEST_CASE\("([^"]*)"', (ROOT / "tests" / "cuda" / source).read_text()))
            self.assertIn(case, cases, program)

    def test_skipped_cases_are_counted(self):
        log = self.root / "build" / "device" / "Testing" / "Temporary" / "LastTest.log"
        code, words = self.run_check(CTEST_DOES=f"printf 'a\\n  skipped: no fp8\\n' > '{log}'")
        self.assertEqual(code, 0)
        # Once by the tests that go side by side, once by those that compare times.
        self.assertIn("device check: 2 skipped, for these reasons:\n      2 no fp8\n", words)

    def test_a_machine_without_cudnn(self):
        log = self.root / "build" / "device" / "Testing" / "Temporary" / "LastTest.log"
        for provider in ("cudnn_absent.cpp", "cudnn_library.cpp"):
            source = (ROOT / "calibration" / "device" / provider).read_text(encoding="utf-8")
            reason = re.search(r'"((?:this build|cuDNN 9)[^"]*)"', source).group(1)
            code, words = self.run_check(CTEST_DOES=f"echo 'skipped: {reason}' > '{log}'")
            self.assertEqual(code, 0, reason)

    def test_a_gpu_that_no_test_can_use(self):
        log = self.root / "build" / "device" / "Testing" / "Temporary" / "LastTest.log"
        code, words = self.run_check(CTEST_DOES=f"echo '  skipped: CUDA driver version is insufficient' > '{log}'")
        self.assertEqual(code, 1)
        self.assert_summary(words, tests="FAILED: exit code 1")

    def test_records_of_other_kernels_are_moved_aside(self):
        self.run_check()
        record = self.out / "records" / "h200-sxm.inferometer.gemm.jsonl"
        with record.open("a", encoding="utf-8") as file:
            file.write("a point\n")
        self.run_check()
        self.assertIn("a point", record.read_text(encoding="utf-8"))
        record.write_text('{"source_hash":"sha256:abc12"}\na point\n', encoding="utf-8")
        for number in (1, 2):
            _, words = self.run_check()
            self.assertIn(f"records of other kernels: moved to {self.out}/records.{number}", words)
            self.assertNotIn("a point", record.read_text(encoding="utf-8"))
            record.write_text('{"source_hash":"sha256:abc2"}\n', encoding="utf-8")

    def test_much_output_is_cut(self):
        code, words = self.run_check(CTEST_DOES="seq 1 200000")
        self.assertEqual(code, 0)
        self.assertLess(len(words), 600_000)
        self.assertIn("\n200000\n---", words)
        self.assertRegex(words, r"\[\d+ lines left out\]")

    def test_large_records_are_compressed(self):
        large = self.out / "records" / "h200-sxm.inferometer.gemm.jsonl"
        large.parent.mkdir(parents=True)
        large.write_text('{"source_hash":"sha256:abc1"}\n' + "a point\n" * 2_000_000, encoding="utf-8")
        self.run_check()
        self.assertFalse(large.exists())
        self.assertTrue(large.with_suffix(".jsonl.gz").exists())


if __name__ == "__main__":
    unittest.main()
