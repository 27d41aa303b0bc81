"""The checks themselves, on small repositories that break one rule each."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(HERE, self.root / "tests/structure",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.write("docs/design.md", (HERE.parent.parent / "docs/design.md").read_text())
        self.write("tests/structure/long_files.txt", "")
        self.write("src/base/words.hpp", "#pragma once\n#include <string>\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_check(self, *arguments):
        # No git here: the check then walks the folder.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        done = subprocess.run([sys.executable, self.root / "tests/structure/check.py", *arguments],
                              capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout

    def expect_problem(self, words, *arguments):
        status, output = self.run_check(*arguments)
        self.assertEqual(status, 1, output)
        self.assertIn(words, output)
        self.assertIn(" 1 problem\n", output)

    def test_a_clean_repository_has_no_problem(self):
        self.assertEqual(self.run_check("rooms", "text", "headers")[0], 0)

    def test_an_include_against_the_table_is_found(self):
        self.write("src/model/command.hpp", "#pragma once\n")
        self.write("src/base/bad.cpp", '#include "model/command.hpp"\n')
        self.expect_problem("src/base/bad.cpp:1: includes model/command.hpp", "rooms")

    def test_an_include_by_a_relative_path_is_found(self):
        self.write("src/engine/engine.hpp", "#pragma once\n")
        self.write("src/sched/bad.cpp", '\n#include "../engine/engine.hpp"\n')
        self.expect_problem("src/sched/bad.cpp:2", "rooms")

    def test_a_cuda_header_in_the_engine_is_found(self):
        self.write("include/cuda/driver_types.h", "#pragma once\n")
        self.write("src/engine/bad.cpp", "#include <driver_types.h>\n")
        self.expect_problem("not on include/cuda", "rooms")

    def test_a_lock_in_the_scheduler_is_found(self):
        self.write("src/sched/bad.cpp", "#include <mutex>\n")
        self.expect_problem("no threads, locks or clocks", "rooms")

    def test_a_link_against_the_table_is_found(self):
        self.write("src/sched/CMakeLists.txt", "target_link_libraries(x sb_engine)\n")
        self.expect_problem("links engine", "rooms")
        self.write("src/sched/CMakeLists.txt", "streambed_room(sched\n  SOURCES a.cpp\n"
                   "  DEPENDS base trace)\n")
        self.expect_problem("links trace", "rooms")

    def test_a_table_that_says_something_else_is_found(self):
        text = (self.root / "docs/design.md").read_text()
        self.write("docs/design.md", text.replace("| `src/model` |", "| `src/modle` |"))
        status, output = self.run_check("rooms")
        self.assertEqual(status, 1)
        self.assertIn("differ about src/model", output)

    def test_a_header_that_needs_another_first_is_found(self):
        self.write("src/base/bad.hpp", "#pragma once\ninline std::vector<int> x;\n")
        self.expect_problem("src/base/bad.hpp does not compile alone", "headers")

    def test_a_header_without_a_guard_is_found(self):
        self.write("src/base/bad.hpp", "struct once {};\n")
        self.expect_problem("src/base/bad.hpp does not compile alone", "headers")

    def test_a_header_that_its_source_has_first_is_left_to_the_build(self):
        self.write("src/base/CMakeLists.txt", "streambed_room(base SOURCES bad.cpp)\n")
        self.write("src/base/bad.hpp", "#pragma once\ninline std::vector<int> x;\n")
        self.write("src/base/bad.cpp", '#include "base/bad.hpp"\n#include <vector>\n')
        self.assertEqual(self.run_check("headers")[0], 0)
        self.write("src/base/bad.cpp", '#include <vector>\n#include "base/bad.hpp"\n')
        self.expect_problem("src/base/bad.hpp does not compile alone", "headers")
        self.write("src/base/bad.cpp", '#include "base/bad.hpp"\n#include <vector>\n')
        self.write("src/base/CMakeLists.txt", "set_target_properties(sb_base PROPERTIES UNITY_BUILD ON)\n")
        self.expect_problem("src/base/bad.hpp does not compile alone", "headers")

    def test_a_private_path_is_found(self):
        self.write("docs/bad.md", "see /" + "work/elsewhere\n")
        self.expect_problem("docs/bad.md:1", "text")

    def test_a_long_file_is_found_unless_it_is_listed(self):
        self.write("src/base/long.cpp", "\n" * 601)
        self.expect_problem("601 lines", "text")
        self.write("tests/structure/long_files.txt", "src/base/long.cpp\tone table\n")
        self.assertEqual(self.run_check("text")[0], 0)

    def test_a_long_example_is_found(self):
        self.write("examples/01_long.cu", "\n" * 100)
        self.expect_problem("an example has fewer than 100", "text")


if __name__ == "__main__":
    unittest.main()
