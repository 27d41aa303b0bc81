"""`streambed timeline`, as a user calls it: every kind of output, and everything that can be wrong."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

SAMPLE = sys.argv.pop()
STREAMBED = sys.argv.pop()
PAGE = pathlib.Path(STREAMBED).parent.parent / "share/streambed/timeline.html"


def streambed(*arguments, **options):
    return subprocess.run([STREAMBED, "timeline", *map(str, arguments)], text=True,
                          capture_output=True, timeout=200, **options)


class Timeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sample(self, which="small"):
        path = self.folder / f"{which}.trace"
        subprocess.run([SAMPLE, "trace", which, path], check=True)
        return path

    def refused(self, answer, *words, status=1):
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertEqual(answer.stdout, "")
        self.assertTrue(answer.stderr.startswith("streambed timeline: "), answer.stderr)
        for word in words:
            self.assertIn(word, answer.stderr)

    def test_text_goes_to_standard_output(self):
        environment = {**os.environ, "LC_ALL": "C"}
        trace = self.sample()
        for arguments in ([trace], [trace, "-o", "-"]):
            answer = streambed(*arguments, "--width", "72", env=environment)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            lines = answer.stdout.splitlines()
            self.assertEqual(lines[0], "three_way: 410 us modelled, 9 operations, NVIDIA H200")
            self.assertEqual(lines[3], "Kernels" + " " * 20 + "#" * 37 + "     68%")

    def test_text_has_blocks_in_a_utf8_locale(self):
        answer = streambed(self.sample(), env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertIn("███", answer.stdout)

    def test_text_is_as_narrow_as_it_is_asked_for(self):
        for width in (30, 40):
            answer = streambed(self.sample(f"{width}"), "--width", str(width), env={**os.environ, "LC_ALL": "C"})
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertLessEqual(max(map(len, answer.stdout.splitlines())), width)

    def test_what_is_too_narrow_is_refused(self):
        for width in ("1", "29"):
            self.refused(streambed(self.sample(width), "--width", width), "narrow: 30 to 10000 columns", status=2)
        out = self.folder / "out.svg"
        self.refused(streambed(self.sample(), "-o", out, "--width", "399"), "narrow: 400 to 16000 pixels", status=2)
        self.assertFalse(out.exists())

    def test_what_is_too_wide_is_refused(self):
        trace = self.sample()
        for width in ("10001", "2000000000"):
            self.refused(streambed(trace, "--width", width), "wide: 30 to 10000 columns", status=2)
        for name in ("out.svg", "out.png"):
            out = self.folder / name
            for width in ("16001", "2000000000"):
                self.refused(streambed(trace, "-o", out, "--width", width), "wide: 400 to 16000 pixels", status=2)
            self.assertFalse(out.exists())
        for width in ("10000", "16000"):
            out = self.folder / f"out.{'txt' if width == '10000' else 'svg'}"
            self.assertEqual(streambed(trace, "-o", out, "--width", width).returncode, 0)

    def test_options_of_pictures_are_refused_for_what_has_no_such_thing(self):
        trace, out = self.sample(), self.folder / "out.html"
        self.refused(streambed(trace, "-o", out, "--width", "800"), "as wide as its window", status=2)
        self.refused(streambed(trace, "-o", out, "--theme", "dark"), "--theme is for pictures", "a button", status=2)
        self.refused(streambed(trace, "--theme", "dark"), "--theme is for pictures", status=2)
        self.assertFalse(out.exists())

    def test_svg_is_well_formed_and_has_every_bar_in_its_row(self):
        for which, operations, calls in (("small", 7, 10), ("3000", 3000, 3000)):
            out = self.folder / f"{which}.svg"
            answer = streambed(self.sample(which), "-o", out)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            root = xml.parse(out).getroot()
            space = "{http://www.w3.org/2000/svg}"
            counts = {}
            for row in root.iter(f"{space}g"):
                counts[row.get("data-row")] = counts.get(row.get("data-row"), 0) + sum(
                    int(rect.get("data-count", "0")) for rect in row.iter(f"{space}rect"))
            streams = sum(n for row, n in counts.items()
                          if row.startswith("Stream") or row == "download")
            engines = sum(n for row, n in counts.items()
                          if row in ("Kernels", "Copy to device", "Copy to host", "Host functions"))
            self.assertEqual((streams, engines), (operations, operations))
            self.assertEqual(counts["Main thread"], calls + (1 if which == "small" else 0))

    def test_svg_shows_names_and_the_critical_path(self):
        out = self.folder / "out.svg"
        streambed(self.sample(), "-o", out, "--theme", "dark")
        text = out.read_text()
        for words in (">scale<", ">download<", ">300 µs<", 'class="path"', 'class="arrow"', "<title>scale: 120 µs"):
            self.assertIn(words, text)
        self.assertNotIn("prefers-color-scheme", text)

    def test_html_has_the_data_and_needs_nothing_else(self):
        out = self.folder / "out.html"
        answer = streambed(self.sample(), "-o", out)
        if not PAGE.exists():
            return self.refused(answer, "nodejs and npm", ".svg")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        text = out.read_text()
        self.assertIn('"program":"three_way"', text)
        self.assertIn("scale(float*, int)", text)
        self.assertNotIn("streambed trace data", text)
        for word in ('src="http', 'href="http', "url(http", "import("):
            self.assertNotIn(word, text)

    def test_html_without_the_page_says_what_to_install(self):
        bin_folder = self.folder / "toolkit/bin"
        bin_folder.mkdir(parents=True)
        shutil.copy(STREAMBED, bin_folder)
        answer = subprocess.run([bin_folder / "streambed", "timeline", self.sample(), "-o",
                                 self.folder / "out.html"], text=True, capture_output=True)
        self.refused(answer, "timeline.html is missing", "Install nodejs and npm", ".svg")
        self.assertFalse((self.folder / "out.html").exists())

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_png_is_a_picture_of_the_size_of_the_svg(self):
        trace, out = self.sample(), self.folder / "out.png"
        answer = streambed(trace, "-o", out, "--width", "800")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        data = out.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(int.from_bytes(data[16:20], "big"), 1600)
        answer = streambed(trace, "-o", out, "--width", "16000", "--force")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(int.from_bytes(out.read_bytes()[16:20], "big"), 16000)

    def test_png_without_a_browser_says_so(self):
        answer = streambed(self.sample(), "-o", self.folder / "out.png",
                           env={**os.environ, "PATH": str(self.folder)})
        self.refused(answer, "Chromium", "Install the package chromium", ".svg")

    def test_nothing_is_written_over_unless_asked(self):
        trace, out = self.sample(), self.folder / "out.svg"
        out.write_text("mine")
        self.refused(streambed(trace, "-o", out), "there already", "--force")
        self.assertEqual(out.read_text(), "mine")
        self.assertEqual(streambed(trace, "-o", out, "--force").returncode, 0)
        self.assertTrue(out.read_text().startswith("<svg"))

    def test_a_file_stays_when_the_new_one_cannot_be_written(self):
        def nearly_full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        trace, out = self.sample(), self.folder / "out.svg"
        out.write_text("mine")
        before = sorted(os.listdir(self.folder))
        self.refused(streambed(trace, "-o", out, "--force", preexec_fn=nearly_full), "File too large")
        self.assertEqual((out.read_text(), sorted(os.listdir(self.folder))), ("mine", before))

    def test_a_pipe_is_written_to_and_stays(self):
        trace, pipe = self.sample(), self.folder / "out.svg"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for options in ([], ["--force"]):
            self.assertEqual(streambed(trace, "-o", pipe, *options).returncode, 0)
            self.assertTrue(os.read(reader, 65536).startswith(b"<svg"))
            self.assertTrue(pipe.is_fifo())

    def test_a_link_stays_and_leads_to_the_new_picture(self):
        trace, link, out = self.sample(), self.folder / "link.svg", self.folder / "out.svg"
        link.symlink_to(out)
        for _ in range(2):
            self.assertEqual(streambed(trace, "-o", link, "--force").returncode, 0)
            self.assertTrue(link.is_symlink() and out.read_text().startswith("<svg"))

    def test_files_with_names_like_the_output_stay_as_they_are(self):
        trace, out = self.folder / "out.svg.part", self.folder / "out.svg"
        trace.write_bytes(self.sample().read_bytes())
        before = trace.read_bytes()
        for _ in range(2):
            answer = streambed(trace, "-o", out, "--force")
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            self.assertEqual(trace.read_bytes(), before)
        umask = os.umask(0)
        os.umask(umask)
        self.assertEqual(out.stat().st_mode & 0o777, 0o666 & ~umask)

    def test_a_source_is_no_output(self):
        source = self.folder / "program.cu"
        source.write_text("mine")
        self.refused(streambed(self.sample(), "-o", source, "--force"), "program.cu", status=2)
        self.assertEqual(source.read_text(), "mine")

    def test_an_unknown_ending_is_named(self):
        self.refused(streambed(self.sample(), "-o", "out.pdf"), "out.pdf", ".png", status=2)

    def test_a_file_that_is_no_trace_is_refused_and_nothing_written(self):
        wrong, out = self.folder / "wrong", self.folder / "out.svg"
        wrong.write_text("something else\n" * 100)
        self.refused(streambed(wrong, "-o", out), str(wrong))
        self.refused(streambed(self.folder / "missing", "-o", out), "missing")
        self.assertFalse(out.exists())

    def test_a_folder_that_is_not_there_is_named(self):
        self.refused(streambed(self.sample(), "-o", self.folder / "no/out.svg"), "no/out.svg")

    def test_a_trace_that_stops_early_is_drawn_up_to_there(self):
        whole, cut, out = self.sample().read_bytes(), self.folder / "cut.trace", self.folder / "out.svg"
        cut.write_bytes(whole[:len(whole) * 2 // 3])
        for answer in (streambed(cut), streambed(cut, "-o", out)):
            self.assertEqual(answer.returncode, 3, answer.stderr)
            self.assertRegex(answer.stderr, r"^streambed timeline: the trace stops without an end: .+\n$")
        self.assertIn("recording ends early", streambed(cut).stdout)
        xml.parse(out)

    def test_a_run_that_hung_is_drawn(self):
        answer = streambed(self.sample("hung"), env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(", hung\n", answer.stdout)


if __name__ == "__main__":
    unittest.main()
