"""Calls in a trace have the names that the program wrote, whatever they are inside."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop())
HERE = pathlib.Path(__file__).resolve().parent


class Names(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def command(self, *arguments):
        return subprocess.run([TOOLKIT / "bin/streambed", *arguments], capture_output=True, text=True, check=True,
                              timeout=100).stdout

    def test_calls_have_the_names_that_the_program_wrote(self):
        source = (HERE / "names.cu").read_text()
        program, trace = self.folder / "names", self.folder / "names.sbt"
        subprocess.run([TOOLKIT / "bin/nvcc", "-o", program, HERE / "names.cu"], check=True, timeout=300)
        subprocess.run([program], env={**os.environ, "STREAMBED_TRACE": str(trace)}, check=True, timeout=100)
        events = json.loads(self.command("export", trace, "--format", "chrome"))["traceEvents"]
        named = [e["name"] for e in events if e["name"].startswith("cuda")]
        self.assertEqual(named, re.findall(r"^ *(?:return )?(cuda[A-Z]\w+)\(", source, re.MULTILINE))
        self.assertFalse({e["name"] for e in events} & {"copy_plane", "copy_box", "read", "add", "set", "get"})

    def test_every_entry_point_has_a_name_of_its_own(self):
        # What has no call of its own in a trace: it asks a thread's variable, or a constant.
        quiet = {"cudaGetLastError", "cudaPeekAtLastError", "cudaRuntimeGetVersion", "cudaDriverGetVersion",
                 "__cudaPopCallConfiguration"}
        seen = 0
        for file in sorted((HERE.parent.parent / "src/cudart").glob("*.cpp")):
            text = file.read_text()
            for found in re.finditer(r"SB_API cudaError_t (?:CUDARTAPI )?(\w+)\([^{;]*\)\s*(?:noexcept\s*)?\{", text):
                depth, end = 1, found.end()
                while depth:
                    depth += (text[end] == "{") - (text[end] == "}")
                    end += 1
                body = text[found.end():end]
                seen += 1
                if found[1] not in quiet:
                    self.assertRegex(body, r"\b(\w+_)?entry(_in_any_process)?(<\w+>)?\(|\bas_call\(", f"{file.name}: {found[1]}")
        self.assertGreater(seen, 100)


if __name__ == "__main__":
    unittest.main()
