"""`streambed export`: each format is read back by another reader, and nothing is replaced unasked."""

import collections
import csv
import io
import json
import os
import pathlib
import pty
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import perfetto

MAKE_TRACE = sys.argv.pop()
STREAMBED = sys.argv.pop()
BLOCK = 128 << 10


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, kind):
        path = self.folder / f"{kind}.sbt"
        if not path.exists():
            subprocess.run([MAKE_TRACE, kind, path], check=True, timeout=60)
        return path

    def export(self, *arguments, **options):
        return subprocess.run([STREAMBED, "export", *arguments], capture_output=True, timeout=100,
                              **options)

    def text(self, kind, form):
        answer = self.export(self.trace(kind), "--format", form)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.decode()

    def perfetto(self, kind):
        out = self.folder / f"{kind}.pftrace"
        answer = self.export(self.trace(kind), "--format", "perfetto", "-o", out)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return perfetto.packets(self, out)

    def test_perfetto_has_a_row_for_each_thread_engine_and_stream(self):
        packets = self.perfetto("complete")
        tracks = [p["track_descriptor"][0] for p in packets if p["track_descriptor"]]
        groups = {t["uuid"][0]: t["process"][0]["process_name"][0] for t in tracks if t["process"]}
        rows = [(groups[t["parent_uuid"][0]], t["name"][0]) for t in tracks if t["parent_uuid"]]
        device = "device 0 NVIDIA H200"
        for row in [("small", "thread 0 main"), ("small", "thread 0 main annotations"),
                    (device, "multiprocessors"), (device, "host to device"),
                    (device, "stream 0 (default)"), (device, "stream 1 work")]:
            self.assertIn(row, rows)
        # The kernels that overlap have two lanes.
        self.assertEqual(rows.count((device, "multiprocessors")), 2)
        self.assertEqual(len({t["uuid"][0] for t in tracks}), len(tracks))

    def test_perfetto_slices_are_properly_nested_and_named(self):
        for kind in ("complete", "random"):
            packets = self.perfetto(kind)
            self.assertEqual(packets[0]["sequence_flags"], [1])
            names, open_slices, seen = {}, collections.defaultdict(list), collections.Counter()
            tracks = [p["track_descriptor"][0] for p in packets if p["track_descriptor"]]
            nested = {t["uuid"][0] for t in tracks if t["name"] and "annotations" in t["name"][0]}
            last = collections.defaultdict(int)
            for packet in packets:
                self.assertEqual(packet["trusted_packet_sequence_id"], [1])
                for data in packet["interned_data"]:
                    for name in data["event_names"]:
                        names[name["iid"][0]] = name["name"][0]
                for event in packet["track_event"]:
                    track, time = event["track_uuid"][0], packet["timestamp"][0]
                    self.assertGreaterEqual(time, last[track])
                    last[track] = time
                    if event["type"] == [2]:
                        open_slices[track].pop()
                    else:
                        seen[names[event["name_iid"][0]]] += 1
                        if event["type"] == [1]:
                            self.assertTrue(track in nested or not open_slices[track])
                            open_slices[track].append(event)
            self.assertFalse(any(open_slices.values()))
            if kind == "complete":
                # In the row of the engine and in that of the stream.
                self.assertEqual(seen['scale(float*, "n")'], 4)
                self.assertEqual(seen["copy host to device"], 2)
                self.assertEqual(seen["reduce"], 1)  # never started
                self.assertEqual(seen["cudaLaunchKernel"], 3)

    def test_perfetto_flows_lead_from_what_was_waited_for(self):
        starts, ends = {}, {}
        for packet in self.perfetto("complete"):
            for event in packet["track_event"]:
                for flow in event["flow_ids"]:
                    starts.setdefault(flow, packet["timestamp"][0])
                for flow in event["terminating_flow_ids"]:
                    self.assertNotIn(flow, ends)
                    ends[flow] = packet["timestamp"][0]
        self.assertEqual(len(ends), 2)  # of the third edge the waiter never started
        for flow, time in ends.items():
            self.assertLess(starts[flow], time)

    def test_perfetto_tells_the_hardware_queue(self):
        keys, told = {}, collections.Counter()
        for packet in self.perfetto("complete"):
            for data in packet["interned_data"]:
                for name in data["debug_annotation_names"]:
                    keys[name["iid"][0]] = name["name"][0]
            for event in packet["track_event"]:
                for note in event["debug_annotations"]:
                    if keys[note["name_iid"][0]] == "queue":
                        told[note["string_value"][0]] += 1
        self.assertEqual(told, {"host_to_device 2": 1, "compute 0": 1, "compute 1": 1, "compute 2": 1})

    def test_chrome_is_json_with_slices_and_arrows(self):
        events = json.loads(self.text("complete", "chrome"))["traceEvents"]
        slices = [e for e in events if e["ph"] == "X"]
        kernel = next(e for e in slices if e["cat"] == "kernel")
        self.assertEqual((kernel["ts"], kernel["dur"]), (3.0, 2.0))
        self.assertEqual(kernel["name"], 'scale(float*, "n")')
        self.assertEqual(kernel["args"]["line"], "small.cu:12")
        self.assertEqual(kernel["args"]["queue"], "compute 0")
        self.assertEqual(sum(e["cat"] == "call" for e in slices), 4)
        begun = {e["id"]: e for e in events if e["ph"] == "s"}
        ended = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(begun.keys(), ended.keys())
        self.assertEqual({e["cat"] for e in begun.values()}, {"stream_order", "event"})
        rows = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
        self.assertLessEqual({(e["pid"], e["tid"]) for e in slices}, rows)

    def test_csv_has_a_line_for_each_operation(self):
        rows = list(csv.DictReader(io.StringIO(self.text("complete", "csv"))))
        self.assertEqual([r["kind"] for r in rows], ["copy"] + ["kernel"] * 3 + ["fill"])
        self.assertEqual(rows[0]["bytes"], "4194304")
        self.assertEqual(rows[0]["host memory"], "pinned")
        self.assertEqual(rows[1]["name"], 'scale(float*, "n")')
        self.assertEqual(rows[1]["grid"], "1024x1x1")
        self.assertEqual(rows[1]["waits"], "stream_order:0:3000")
        self.assertEqual([r["queue"] for r in rows], ["host_to_device 2", "compute 0", "compute 1", "compute 2", ""])
        self.assertEqual(rows[3]["started"], "")
        for row in csv.reader(io.StringIO(self.text("random", "csv"))):
            self.assertEqual(len(row), 28)

    def test_the_ranges_that_operations_use_are_in_every_format_but_the_tables(self):
        rows = list(csv.DictReader(io.StringIO(self.text("random", "csv"))))
        one = r"(anything|(read|write|both):\d*:\d+:\d+~?)"
        for row in rows:
            self.assertRegex(row["ranges"], f"^({one}( {one})*)?$")
        used = [row["ranges"] for row in rows if row["ranges"]]
        self.assertGreater(len(used), 10)
        self.assertTrue(any("~" in text for text in used) and any("write" in text for text in used))
        events = json.loads(self.text("random", "chrome"))["traceEvents"]
        told = {event["args"]["ranges"] for event in events if "ranges" in event.get("args", {})}
        self.assertTrue(told and told <= set(used))

    def test_tables_are_those_of_nsys(self):
        text = self.text("complete", "text")
        for title, columns in {
                "NVTX Range Summary (nvtx_sum)": "Time (%) Total Time (ns) Instances Avg (ns)"
                " Med (ns) Min (ns) Max (ns) StdDev (ns) Range",
                "CUDA API Summary (cuda_api_sum)": "Time (%) Total Time (ns) Num Calls Avg (ns)"
                " Med (ns) Min (ns) Max (ns) StdDev (ns) Name",
                "CUDA GPU Kernel Summary (cuda_gpu_kern_sum)": "Time (%) Total Time (ns) Instances"
                " Avg (ns) Med (ns) Min (ns) Max (ns) StdDev (ns) Name",
                "CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum)": "Time (%) Total Time"
                " (ns) Count Avg (ns) Med (ns) Min (ns) Max (ns) StdDev (ns) Operation",
                "CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum)": "Total (MB) Count"
                " Avg (MB) Med (MB) Min (MB) Max (MB) StdDev (MB) Operation",
                "Hardware Queue Summary (hw_queue_sum)": "Time (%) Total Time (ns) Operations"
                " Avg (ns) Med (ns) Min (ns) Max (ns) StdDev (ns) Queue"}.items():
            found = re.search(rf"^ \*\* {re.escape(title)}:\n\n(.*)\n( -[- ]*)\n", text, re.MULTILINE)
            self.assertTrue(found, title)
            self.assertEqual(found.group(1).split(), columns.split())
            self.assertEqual(len(found.group(1)), len(found.group(2)))
        rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        self.assertIn(["60.0", "600", "3", "200.0", "200.0", "100", "300", "100.0",
                       "cudaLaunchKernel"], rows)
        self.assertIn(["100.0", "5,000", "2", "2,500.0", "2,500.0", "2,000", "3,000", "707.1",
                       'scale(float*, "n")'], rows)
        self.assertIn(["4.194", "1", "4.194", "4.194", "4.194", "4.194", "0.000",
                       "[CUDA memcpy Host-to-Device]"], rows)
        self.assertIn(["1.000", "1", "1.000", "1.000", "1.000", "1.000", "0.000",
                       "[CUDA memset]"], rows)

    def test_names_do_not_command_a_terminal_and_are_not_endless(self):
        trace = self.trace("commands")
        for command, shown in ((["export", trace, "--format", "text"], ("c\\x1b[31m\\nkkk", "g\\x7f", "h\\x08")),
                               (["explain", trace], ("a\\x1b[2J", "f\\x07.cu")),
                               (["timeline", trace], ("a\\x1b[2J", "b\\x0d\\n", "d\\x9b\\tss", "e\\u202e"))):
            answer = subprocess.run([STREAMBED, *command], capture_output=True, timeout=100)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            text = answer.stdout.decode()
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertLess(max(map(len, text.splitlines())), 400)
            for words in shown:
                self.assertIn(words, text)

    def test_a_file_is_replaced_only_when_asked(self):
        trace, out = self.trace("complete"), self.folder / "out.csv"
        out.write_text("mine")
        answer = self.export(trace, "--format", "csv", "-o", out)
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"exists already", answer.stderr)
        self.assertEqual(out.read_text(), "mine")
        answer = self.export(trace, "--format", "csv", "-o", out, "--force")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(out.read_text().startswith("operation,"))

    def test_a_file_stays_when_the_new_one_cannot_be_written(self):
        def nearly_full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        trace, folder = self.trace("random"), self.folder / "out"
        folder.mkdir()
        out = folder / "out.csv"
        out.write_text("mine")
        link = self.folder / "link.csv"
        link.symlink_to(out)
        for name in (out, link):
            answer = self.export(trace, "--format", "csv", "-o", name, "--force", preexec_fn=nearly_full)
            self.assertEqual(answer.returncode, 1)
            self.assertIn(b"File too large", answer.stderr)
            self.assertEqual((os.listdir(folder), out.read_text()), (["out.csv"], "mine"))
        answer = self.export(trace, "--format", "csv", "-o", link, "--force")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(link.is_symlink() and out.read_text().startswith("operation,"))

    def test_what_is_no_file_is_written_to_and_stays(self):
        trace, pipe = self.trace("complete"), self.folder / "pipe"
        os.mkfifo(pipe)
        for options in ([], ["--force"]):
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            answer = self.export(trace, "--format", "csv", "-o", pipe, *options)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertTrue(os.read(reader, 65536).startswith(b"operation,"))
            os.close(reader)
            self.assertTrue(pipe.is_fifo())
        answer = self.export(trace, "--format", "csv", "-o", self.folder, "--force")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"Is a directory", answer.stderr)

    def test_a_device_stays_when_it_takes_nothing(self):
        full = self.folder / "full"
        try:
            os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
            os.close(os.open(full, os.O_WRONLY))
        except OSError:
            self.skipTest("devices cannot be made or used here")
        answer = self.export(self.trace("complete"), "--format", "csv", "-o", full, "--force")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"No space left", answer.stderr)
        self.assertTrue(full.is_char_device())

    def test_the_standard_output_goes_on_where_it_is(self):
        out = self.folder / "notes"
        with open(out, "w") as file:
            file.write("before\n")
            file.flush()
            command = [STREAMBED, "export", self.trace("complete"), "--format", "csv", "-o", "/dev/stdout"]
            subprocess.run(command, stdout=file, check=True, timeout=100)
            os.write(file.fileno(), b"after\n")
        lines = out.read_text().splitlines()
        self.assertEqual((lines[0], lines[1][:10], lines[-1]), ("before", "operation,", "after"))

    def test_the_trace_itself_is_never_the_output(self):
        trace = self.trace("complete")
        before = trace.read_bytes()
        answer = self.export(trace, "--format", "csv", "-o", trace, "--force")
        self.assertEqual(answer.returncode, 2)
        self.assertEqual(trace.read_bytes(), before)

    def test_a_file_of_somebody_else_is_never_the_output(self):
        trace, source = self.trace("complete"), self.folder / "program.cu"
        source.write_text("mine")
        link = self.folder / "link"
        link.symlink_to(source)
        for out in (source, link):
            answer = self.export(trace, "--format", "csv", "-o", out, "--force")
            self.assertEqual(answer.returncode, 2)
            self.assertIn(b"was not written by streambed", answer.stderr)
            self.assertEqual(source.read_text(), "mine")

    def test_what_an_export_wrote_is_replaced_whatever_its_name_is(self):
        trace, out = self.trace("complete"), self.folder / "of_any_name"
        for one in ("csv", "chrome", "text", "perfetto", "csv"):
            answer = self.export(trace, "--format", one, "-o", out, "--force")
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(out.read_text().startswith("operation,"))

    def test_bad_traces_are_a_message_and_no_file(self):
        good = self.trace("complete").read_bytes()
        bad = {"foreign": b"hello\n", "empty": b"", "newer": good[:8] + bytes([good[8] + 1]) + good[9:],
               "damaged": good[:200] + bytes([good[200] ^ 1]) + good[201:]}
        words = {"foreign": "not a Streambed trace", "empty": "empty", "newer": "newer Streambed",
                 "damaged": "damaged"}
        for name, data in bad.items():
            path, out = self.folder / name, self.folder / f"{name}.csv"
            path.write_bytes(data)
            answer = self.export(path, "--format", "csv", "-o", out)
            self.assertEqual(answer.returncode, 1, name)
            self.assertIn(words[name], answer.stderr.decode())
            self.assertFalse(out.exists())
        answer = self.export(self.folder / "nowhere", "--format", "csv")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"No such file", answer.stderr)

    def little_memory(self):
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    def test_what_is_no_trace_is_not_read_to_its_end(self):
        large = self.folder / "large"
        large.touch()
        os.truncate(large, 20 << 30)
        for path in (large, "/dev/zero"):
            answer = self.export(path, "--format", "csv", preexec_fn=self.little_memory)
            self.assertEqual(answer.returncode, 1)
            self.assertRegex(answer.stderr.decode(), f"{path} is (not a Streambed trace|a device)")
        reading, writing = os.pipe()
        with subprocess.Popen([STREAMBED, "export", "/dev/stdin", "--format", "csv"], stdin=reading,
                              stderr=subprocess.PIPE) as process:
            os.close(reading)
            with self.assertRaises(BrokenPipeError):
                for _ in range(1000):
                    os.write(writing, bytes(1 << 20))
            os.close(writing)
            self.assertIn(b"is not a Streambed trace", process.stderr.read())

    def test_what_is_behind_a_trace_is_not_read(self):
        for kind in ("complete", "large"):
            whole = self.trace(kind)
            expected = self.export(whole, "--format", "csv")
            longer = self.folder / "longer"
            longer.write_bytes(whole.read_bytes())
            os.truncate(longer, 20 << 30)
            answer = self.export(longer, "--format", "csv", preexec_fn=self.little_memory)
            self.assertEqual((answer.returncode, answer.stderr), (expected.returncode, expected.stderr), kind)
            self.assertTrue(answer.stdout == expected.stdout, kind)
            # Not zeros, but through a pipe that does not end.
            with open(longer, "r+b") as file:
                file.truncate(-(-whole.stat().st_size // BLOCK) * BLOCK + 3 * BLOCK)
            command = f"cat {longer} /dev/urandom | {STREAMBED} export /dev/stdin --format csv"
            answer = subprocess.run(command, shell=True, capture_output=True, timeout=100)
            self.assertTrue(answer.stdout == expected.stdout, kind)

    def test_too_little_memory_is_a_message_with_the_name(self):
        trace = self.trace("large")
        for command in (["export", trace, "--format", "csv"], ["explain", trace], ["timeline", trace]):
            def limits():
                resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))
            answer = subprocess.run([STREAMBED, *command], capture_output=True, timeout=100, preexec_fn=limits)
            self.assertEqual(answer.returncode, 1)
            self.assertRegex(answer.stderr.decode(), f"not enough memory|{trace} is too large: ")

    def test_a_trace_that_stops_is_exported_up_to_there(self):
        whole = self.trace("complete").read_bytes()
        cut = self.folder / "cut.sbt"
        cut.write_bytes(whole[:len(whole) // 2])
        answer = self.export(cut, "--format", "csv")
        self.assertEqual(answer.returncode, 3)
        self.assertIn(b"stops without an end", answer.stderr)
        lines = answer.stdout.count(b"\n")
        self.assertTrue(1 <= lines < 6)

    def test_texts_that_are_not_utf8_are_written_as_utf8(self):
        wanted = "scale \ufffd\u00e9 \x01"
        events = json.loads(self.text("bytes", "chrome"))["traceEvents"]
        self.assertIn(wanted, [event["name"] for event in events])
        self.assertIn(wanted, self.text("bytes", "csv"))
        self.assertIn("\ufffd", self.text("bytes", "text"))
        trace = self.trace("bytes")
        told = subprocess.run([STREAMBED, "explain", "--json", trace], capture_output=True, timeout=60)
        self.assertEqual(json.loads(told.stdout.decode())["run"]["program"], "caf\ufffd")
        picture = self.folder / "bytes.svg"
        subprocess.run([STREAMBED, "timeline", trace, "-o", picture], check=True, timeout=60)
        xml.etree.ElementTree.fromstring(picture.read_bytes())

    def test_an_unknown_format_is_refused(self):
        answer = self.export(self.trace("complete"), "--format", "paper")
        self.assertEqual(answer.returncode, 2)

    def test_a_full_disk_leaves_no_file(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            answer = subprocess.run([STREAMBED, "export", self.trace("complete"), "--format", "csv"],
                                    stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"No space left", answer.stderr)

    def shown_on_a_terminal(self, *words):
        main, terminal = pty.openpty()
        running = subprocess.Popen([STREAMBED, *words], stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(main)
        self.assertEqual(running.wait(timeout=60), 0)
        return shown.decode()

    def test_a_large_trace_has_a_bar_on_a_terminal_only(self):
        trace, out = self.trace("large"), self.folder / "out.txt"
        bar = r" \[#+\.*\] +\d+ %"
        shown = self.shown_on_a_terminal("export", trace, "--format", "text", "-o", out)
        self.assertRegex(shown, "reading the trace" + bar)
        self.assertRegex(self.shown_on_a_terminal("explain", self.trace("many")), "looking for what to change" + bar)
        quiet = self.export(trace, "--format", "text", "-o", out, "--force")
        self.assertNotIn(b"reading", quiet.stderr)


if __name__ == "__main__":
    unittest.main()
