"""Comparing what a program printed with its recording, line by line."""
from dataclasses import dataclass
import re


@dataclass(frozen=True)
class Difference:
    key: str
    recorded: str  # None: the line is not in the recording
    printed: str   # None: the line was not printed

    def __str__(self):
        recorded = "(no such line)" if self.recorded is None else self.recorded
        printed = "(not printed)" if self.printed is None else self.printed
        return f"{self.key}\n    recorded {recorded}\n    printed  {printed}"


@dataclass(frozen=True)
class Result:
    agree: int
    total: int
    differences: tuple

    @property
    def good(self):
        return not self.differences


def parse(text):
    """Lines by key. A key that comes again gets a number; text without one goes by its place."""
    lines, seen = {}, {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, tab, value = line.partition("\t")
        if not tab:
            key, value = "(text)", line
        seen[key] = seen.get(key, 0) + 1
        lines[key if seen[key] == 1 else f"{key}#{seen[key]}"] = value
    return lines


def finished_part(value):
    """Of "program -> state [oN state]...", without the events and stream queries of each state."""
    program, _, states = value.partition(" -> ")
    return program + " -> " + " ".join(s.split("|")[0] for s in states.split())


def compare(recorded, printed, variable=(), only_finished=(), left_out=None):
    """Both are text. `variable` are patterns of keys that are not compared; `left_out` one more."""
    skip = [re.compile(p) for p in variable]

    def compared(key):
        if any(p.fullmatch(key) for p in skip):
            return False
        return left_out is None or not left_out.match(key)

    want = {k: v for k, v in parse(recorded).items() if compared(k)}
    got = {k: v for k, v in parse(printed).items() if compared(k)}
    differences, agree = [], 0
    for key, value in want.items():
        said = got.get(key)
        same = said == value
        if not same and said is not None and key in only_finished:
            same = finished_part(said) == finished_part(value)
        if same:
            agree += 1
        else:
            differences.append(Difference(key, value, said))
    differences += [Difference(k, None, v) for k, v in got.items() if k not in want]
    return Result(agree, len(want), tuple(differences))
