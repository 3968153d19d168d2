"""OpenVINO's part of load.py: opens the artifact and runs it."""
import openvino as ov

NAME, PACKAGE = "OpenVINO", "openvino"


def version() -> str:
    return ov.get_version().split("-")[0]


class Session:
    def __init__(self, folder, bundle: dict, note: dict):
        path = folder / "artifact" / note["file"]
        core = ov.Core()
        if note["file"].endswith(".xml"):  # this device exports nothing compiled
            compiled = core.compile_model(str(path), bundle["device"], bundle["properties"])
        else:
            compiled = core.import_model(path.read_bytes(), bundle["device"], bundle["properties"])
        self.request = compiled.create_infer_request()
        self.ports = list(compiled.inputs)
        self.outputs_count = len(compiled.outputs)

    def inputs(self) -> list:
        """Of each input: NumPy's dtype, whether it is a float, and its sizes (-1: open)."""
        return [(port.element_type.to_dtype(), port.element_type.is_real(),
                 [size.get_length() if size.is_static else -1 for size in port.partial_shape]) for port in self.ports]

    def set_inputs(self, arrays: list) -> None:
        for index, array in enumerate(arrays):
            self.request.set_input_tensor(index, ov.Tensor(array))

    def run(self) -> None:
        self.request.infer()

    def outputs(self) -> list:
        return [self.request.get_output_tensor(index).data for index in range(self.outputs_count)]
