#!/usr/bin/env python3
"""Plants one violation of each rule in a small tree and sees that the check names it, and nothing else."""

import tempfile
import unittest
from pathlib import Path

import check_structure

SOUND = {
    "base/CMakeLists.txt": "inferometer_library(base SOURCES units.cpp config/yaml_source.cpp)\n",
    "base/units.hpp": "#pragma once\n#include <vector>\n",
    "base/units.cpp": '#include "base/units.hpp"\n',
    "base/config/yaml_source.cpp": "#include <yaml-cpp/yaml.h>\n",
    "hardware/gpu_spec.hpp": '#pragma once\n#include "base/units.hpp"\n',
    "sim/kvcache/block_pool.hpp": '#pragma once\n#include "base/units.hpp"\n',
    "sim/batch/step_plan.hpp": '#pragma once\n#include "sim/kvcache/block_pool.hpp"\n',
}


class CheckStructure(unittest.TestCase):
    def check(self, **changes):
        """What the check says of the sound tree with some files added or replaced."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {**SOUND, **changes.pop("files", {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return check_structure.check_tree(root)

    def test_sound_tree(self):
        self.assertEqual(self.check(), [])

    def test_arrow_upwards(self):
        found = self.check(files={"base/units.hpp": '#pragma once\n\n#include "hardware/gpu_spec.hpp"\n'})
        self.assertIn(
            "base/units.hpp:3: base may not include hardware (hardware/gpu_spec.hpp); it may include nothing else", found
        )

    def test_arrow_inside_sim(self):
        found = self.check(files={"sim/kvcache/leak.hpp": '#pragma once\n#include "sim/batch/step_plan.hpp"\n'})
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("sim/kvcache/leak.hpp:2: sim/kvcache may not include sim/batch"), found)

    def test_circle(self):
        found = self.check(
            files={
                "base/a.hpp": '#pragma once\n#include "base/b.hpp"\n',
                "base/b.hpp": '#pragma once\n#include "base/a.hpp"\n',
            }
        )
        self.assertEqual(found, ["base/a.hpp:1: includes itself: base/a.hpp -> base/b.hpp -> base/a.hpp"])

    def test_third_party(self):
        for header in ("yaml-cpp/yaml.h", "Eigen/Dense", "simgrid/s4u.hpp", "cuda_runtime.h", "mpi.h", "CLI/CLI.hpp"):
            with self.subTest(header):
                found = self.check(files={"base/units.cpp": f"#include <{header}>\n"})
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith(f"base/units.cpp:1: {header} may only be included by"), found)

    def test_relative_include(self):
        found = self.check(files={"base/units.cpp": '#include "units.hpp"\n'})
        self.assertEqual(
            found, ['base/units.cpp:1: "units.hpp" is no file; includes are written from the repository root']
        )

    def test_no_pragma_once(self):
        self.assertEqual(self.check(files={"base/bare.hpp": "int x;\n"}), ["base/bare.hpp:1: no #pragma once"])

    def test_unlisted_source(self):
        self.assertEqual(
            self.check(files={"base/lost.cpp": "int x;\n"}), ["base/lost.cpp:1: no CMakeLists.txt lists it"]
        )

    def test_folder_without_arrows(self):
        found = self.check(files={"sim/magic/wand.hpp": "#pragma once\n"})
        self.assertEqual(found, ["sim/magic/wand.hpp:1: the folder sim/magic has no arrows in check_structure.py"])

    def test_file_length(self):
        self.assertEqual(self.check(files={"base/units.cpp": "\n" * 500}), [])
        self.assertEqual(self.check(files={"base/units.cpp": "\n" * 501}), ["base/units.cpp:1: 501 lines; at most 500"])

    def test_function_length(self):
        fits = "int f() {\n" + "  g();\n" * 68 + "}\n"
        self.assertEqual(self.check(files={"base/units.cpp": fits}), [])
        too_long = "namespace n {\nint f() {\n" + "  g();\n" * 69 + "}\n}\n"
        self.assertEqual(
            self.check(files={"base/units.cpp": too_long}), ["base/units.cpp:2: a function of 71 lines; at most 70"]
        )

    def test_raw_string_is_no_function(self):
        text = 'const char* const kJson = R"({\n' + '  "key": 1,\n' * 100 + '})";\n'
        self.assertEqual(self.check(files={"base/units.cpp": text}), [])

    def test_arrows_have_no_circle(self):
        self.assertEqual(list(check_structure.check_circles(check_structure.ARROWS)), [])


if __name__ == "__main__":
    unittest.main()
