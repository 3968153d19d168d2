"""ONNX Runtime's part of load.py: opens the artifact and runs it."""
import numpy as np
import onnxruntime as ort

NAME, PACKAGE = "ONNX Runtime", "onnxruntime"
WORDS = {"graph_optimization_level": {"none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
                                      "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
                                      "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
                                      "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL},
         "execution_mode": {"sequential": ort.ExecutionMode.ORT_SEQUENTIAL, "parallel": ort.ExecutionMode.ORT_PARALLEL}}
PROVIDERS = {"CPU": "CPUExecutionProvider", "XNNPACK": "XnnpackExecutionProvider", "DNNL": "DnnlExecutionProvider",
             "OpenVINO": "OpenVINOExecutionProvider"}
TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_}


def version() -> str:
    return ort.__version__


def numpy_type(name: str):
    """"tensor(int64)" and the like."""
    name = name.removeprefix("tensor(").removesuffix(")")
    if name == "bfloat16":
        raise SystemExit("load.py: NumPy has no bfloat16, so ONNX Runtime can't be given any from Python: use load.cpp")
    return np.dtype(TYPES.get(name, name))


class Session:
    def __init__(self, folder, bundle: dict, note: dict):
        options, chosen = ort.SessionOptions(), note["options"].get("provider", "CPU")
        provider_options = {}
        for name, value in note["options"].items():
            if name == "provider" or name.startswith("provider."):
                if name.startswith(f"provider.{chosen}."):
                    provider_options[name.split(".", 2)[2]] = value
            elif "." in name:
                options.add_session_config_entry(name, value)
            else:
                setattr(options, name, WORDS[name][value] if name in WORDS else
                        bool(int(value)) if name.startswith("enable_") else int(value))
        self.session = ort.InferenceSession(str(folder / "artifact" / note["file"]), options,
                                            providers=[(PROVIDERS[chosen], provider_options), "CPUExecutionProvider"][chosen == "CPU":])
        self.names = note["inputs"]
        self.wanted = note["outputs"]

    def inputs(self) -> list:
        """Of each input: NumPy's dtype, whether it is a float, and its sizes (-1: open)."""
        return [(dtype, dtype.kind == "f", [size if isinstance(size, int) else -1 for size in port.shape])
                for port in self.session.get_inputs() for dtype in [numpy_type(port.type)]]

    def set_inputs(self, arrays: list) -> None:
        self.feed = dict(zip(self.names, arrays))

    def run(self) -> None:
        self.results = self.session.run(self.wanted, self.feed)

    def outputs(self) -> list:
        return self.results
