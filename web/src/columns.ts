// Columns of numbers as the C++ side writes them (src/tools/timeline_page.hpp has the grammar).
// "None" and "never" become -1.

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function decodeInto<Column extends Float64Array | Int32Array>(text: string, column: Column): Column {
  const bytes = decodeBase64(text);
  let at = 0;
  // Multiplied, not shifted: times and sizes have more than 32 bits.
  const varint = (): number => {
    let value = 0;
    let unit = 1;
    for (;;) {
      if (at >= bytes.length) throw new Error("a column of the trace ends too early");
      const byte = bytes[at++];
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
    }
  };
  let last = 0;
  let i = 0;
  while (i < column.length) {
    const step = varint();
    if (step === 0) {
      const run = varint();
      column.fill(last - 1, i, i + run);
      i += run;
    } else {
      last += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
      column[i++] = last - 1;
    }
  }
  return column;
}

/** Numbers of things: fit into 32 bits. */
export const decodeNumbers = (text: string, count: number): Int32Array =>
  decodeInto(text, new Int32Array(count));

/** Times and sizes: exact up to 2^53. */
export const decodeValues = (text: string, count: number): Float64Array =>
  decodeInto(text, new Float64Array(count));
