"""The text of a kernel, as its generator writes it."""


class Lines:
    """Wants lines, depth and fresh, the number of names given out so far."""

    def emit(self, text):
        self.lines.append("  " * self.depth + text)

    def name_of(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"
