"""The text of a kernel, as its generator writes it."""


class Lines:
    """Wants lines, depth and fresh, the number of names given out so far."""

    def emit(self, text):
        self.lines.append("  " * self.depth + text)

    def name_of(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"


SIZES = {"u32": 4, "int": 4, "float": 4, "short": 2, "unsigned short": 2, "double": 8, "unsigned char": 1,
         "unsigned long long": 8}


def shared(element, kernel, places, rows=1, dynamic=0):
    """`own`, an array of shared memory, perhaps one that gets its size from the launch."""
    sides = f"[{rows}][{places}]" if rows > 1 else f"[{places}]"
    if not dynamic:
        return [f"  __shared__ {element} own{sides};"]
    memory = f"  extern __shared__ {element} dynamic_{kernel}[];"
    if rows > 1:
        return [memory, f"  {element} (*own)[{places}] = reinterpret_cast<{element} (*)[{places}]>(dynamic_{kernel});"]
    return [memory, f"  {element}* own = dynamic_{kernel};"]
