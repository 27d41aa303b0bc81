// Loads, stores and atomics of inline PTX.
