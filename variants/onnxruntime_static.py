"""A variant by ONNX Runtime's own static quantiser: onnxruntime_static.py [options] MODEL CALIBRATION FOLDER

Needs onnxruntime and onnx in the environment of the python that runs it. In the contract:

    [[variant]]
    name    = "ort_entropy"
    program = ["quantise/bin/python", "variants/onnxruntime_static.py", "--calibrate", "Entropy"]
"""

import argparse

import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from calibration import add_arguments, samples


class Reader(CalibrationDataReader):
    def __init__(self, model, folder, most):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        ranks = {port.name: len(port.shape) for port in session.get_inputs()}
        self.left = iter([feed for _, feed in zip(range(most), samples(folder, ranks))])

    def get_next(self):
        return next(self.left, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calibrate", choices=["MinMax", "Entropy", "Percentile"], default="MinMax")
    parser.add_argument("--per-channel", action="store_true")
    parser.add_argument("--reduce-range", action="store_true", help="weights of 7 bits, for CPUs without VNNI")
    add_arguments(parser)
    asked = parser.parse_args()
    # Loaded here, since from a path it would write beside the model, where it may not.
    quantize_static(onnx.load(asked.model), str(asked.folder / "model.onnx"), Reader(asked.model, asked.calibration, asked.samples),
                    quant_format=QuantFormat.QDQ, per_channel=asked.per_channel, reduce_range=asked.reduce_range,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod[asked.calibrate])


if __name__ == "__main__":
    main()
