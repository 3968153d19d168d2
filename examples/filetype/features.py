"""What the model sees of a file, by magika's own rule (version 1.0.3, model standard_v3_3): int32 [2048].

1024 values from the file's beginning and 1024 from its end, one a byte. Of at most 4096 bytes at each side the white
space is taken off the outer side first. What is missing is padded with 256: behind the beginning, before the end.
"""

import numpy as np

SIDE = 1024
BLOCK = 4096
PADDING = 256
FEWEST_BYTES = 8  # magika asks the model only where this many are left of the beginning


def features(content):
    begin = content[:BLOCK].lstrip()[:SIDE]
    end = content[-BLOCK:].rstrip()[-SIDE:]
    values = np.full(2 * SIDE, PADDING, np.int32)
    values[: len(begin)] = np.frombuffer(begin, np.uint8)
    values[2 * SIDE - len(end) :] = np.frombuffer(end, np.uint8)
    return values


def is_enough(values):
    return values[FEWEST_BYTES - 1] != PADDING
