"""Events that are recorded late in each turn: the claim is what is gained, also by waits that hold nothing as it is."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLKIT = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(__file__).parent / "programs" / "late_records.cu"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done)
    return done.stdout


class LateRecords(unittest.TestCase):
    def test_claims(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            command(TOOLKIT / "bin" / "nvcc", "-o", folder / "late_records", PROGRAM)

            def facts(device, *words):
                command(TOOLKIT / "bin" / "streambed", "run", folder / "late_records", "--device", device, "--force", "--quiet",
                        "--trace", folder / "run.sbt", "--", *words)
                return json.loads(command(TOOLKIT / "bin" / "streambed", "explain", "--json", folder / "run.sbt"))

            for words in ((), ("use=42000", "turns=8"), ("make=20000", "other=20000", "turns=3"),
                          ("make=5000", "other=60000", "use=70000", "turns=6")):
                for device in ("h200", "v100"):
                    before, after = (facts(device, applied, *words) for applied in ("applied=0", "applied=1"))
                    gained = before["run"]["length"] - after["run"]["length"]
                    cost, = (f["cost"] for f in before["findings"] if f["rule"] == "event-recorded-late")
                    self.assertLessEqual(abs(cost - gained) * 100, 2 * gained, (device, words, cost, gained))
                    self.assertNotIn("event-recorded-late", [f["rule"] for f in after["findings"]])


if __name__ == "__main__":
    unittest.main()
