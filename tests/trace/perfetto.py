"""Perfetto's files, read by protoc with the schema beside this."""

import collections
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def parse_text_proto(text):
    """protoc's text output as nested lists: {field: [values]}."""
    root = collections.defaultdict(list)
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        elif line:
            key, value = line.split(":", 1)
            stack[-1][key].append(json.loads(value.strip().replace("\\'", "'")))
    return root


def packets(test, path):
    with path.open("rb") as file:
        decoded = subprocess.run(
            ["protoc", f"--proto_path={HERE}", "--decode=Trace", "perfetto.proto"], stdin=file,
            capture_output=True, text=True, timeout=60)
    test.assertEqual(decoded.returncode, 0, decoded.stderr)
    # A field that the schema does not know comes out as a bare number.
    test.assertIsNone(re.search(r"^\s*\d+[:{ ]", decoded.stdout, re.MULTILINE), decoded.stdout)
    return parse_text_proto(decoded.stdout)["packet"]
