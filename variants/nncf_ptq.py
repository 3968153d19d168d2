"""A variant by NNCF's post-training quantisation: nncf_ptq.py [options] MODEL CALIBRATION FOLDER

Needs nncf and openvino in the environment of the python that runs it. It leaves OpenVINO IR, which only OpenVINO's worker reads. In the
contract:

    [[variant]]
    name    = "nncf_mixed"
    program = ["quantise/bin/python", "variants/nncf_ptq.py", "--preset", "mixed"]
"""

import argparse

import nncf
import openvino

from calibration import add_arguments, samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=["performance", "mixed"], default="performance")
    parser.add_argument("--transformer", action="store_true", help="NNCF's scheme for transformers")
    parser.add_argument("--accurate-bias", action="store_true", help="NNCF's slow correction of biases")
    add_arguments(parser)
    asked = parser.parse_args()
    model = openvino.Core().read_model(asked.model)
    ranks = {port.get_any_name(): len(port.get_partial_shape()) for port in model.inputs}
    feeds = [[feed[name] for name in ranks] for _, feed in zip(range(asked.samples), samples(asked.calibration, ranks))]
    quantised = nncf.quantize(model, nncf.Dataset(feeds), subset_size=len(feeds), preset=nncf.QuantizationPreset(asked.preset),
                              fast_bias_correction=not asked.accurate_bias,
                              model_type=nncf.ModelType.TRANSFORMER if asked.transformer else None)
    openvino.save_model(quantised, asked.folder / "model.xml", compress_to_fp16=False)


if __name__ == "__main__":
    main()
