"""Reads a calibration set as fiel does: <sample>.npz files, one inputs.npz with the samples on axis 0, or ONNX's test_data_set_N folders."""

from pathlib import Path

import numpy as np


def add_arguments(parser):
    """What fiel hands to a variant's program, and how many samples it takes."""
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("model")
    parser.add_argument("calibration")
    parser.add_argument("folder", type=Path)


def samples(folder, ranks):
    """Yields {input: array}, the batch axis included; `ranks` tells how many axes each input of the model has."""
    folder = Path(folder)
    stacked = folder / "inputs.npz"
    if stacked.exists():
        arrays = dict(np.load(stacked))
        for i in range(len(next(iter(arrays.values())))):
            # An array with one axis more than the input loses its first one; else a sample is a batch of one.
            yield {name: a[i] if a.ndim == ranks.get(name, a.ndim) + 1 else a[i:i + 1] for name, a in arrays.items()}
        return
    for file in sorted(folder.glob("*.npz")):
        yield dict(np.load(file))
    for place in sorted(folder.glob("test_data_set_*")):
        import onnx
        from onnx import numpy_helper
        tensors = [onnx.TensorProto.FromString(file.read_bytes()) for file in sorted(place.glob("input_*.pb"))]
        yield {tensor.name: numpy_helper.to_array(tensor) for tensor in tensors}
