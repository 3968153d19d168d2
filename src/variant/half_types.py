"""Prints the table of half_types.cpp from the operator schemas of the onnx package: which operators take float16 or bfloat16
wherever they take float32, from which opset on, and which of their outputs then have that type.

Usage: half_types.py > table      paste between the braces of kOperators
"""
import onnx

OLDEST, NEWEST = 13, 22
LEFT_OUT = {"DequantizeLinear", "If", "Loop", "MaxUnpool", "Multinomial", "NegativeLogLikelihoodLoss", "Optional",
            "OptionalHasElement", "QLinearMatMul", "QuantizeLinear", "Scan", "SequenceConstruct", "SequenceInsert", "SequenceMap",
            "SoftmaxCrossEntropyLoss", "SplitToSequence"}
# More than one type variable, of which all may be halves at once.
SEVERAL = {"BatchNormalization", "Pow"}


def halves(name, opset, half):
    """Numbers of the outputs that have the inputs' type; None where the operator can't run in this type."""
    try:
        schema = onnx.defs.get_schema(name, opset)
    except onnx.defs.SchemaError:
        return None
    if schema.deprecated:
        return None
    takes = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    types = lambda port: takes.get(port.type_str, {port.type_str})
    inputs = {i.type_str for i in schema.inputs if "tensor(float)" in types(i)}
    if not inputs or (len(inputs) > 1 and name not in SEVERAL):
        return None
    if any(f"tensor({half})" not in takes.get(one, ()) for one in inputs):
        return None
    outputs = [n for n, o in enumerate(schema.outputs) if "tensor(float)" in types(o)]
    if any(schema.outputs[n].type_str not in inputs for n in outputs):
        return None
    return outputs


def rows():
    for name in sorted({s.name for s in onnx.defs.get_all_schemas() if s.domain == ""}):
        since = {half: next((v for v in range(OLDEST, NEWEST + 1) if halves(name, v, half) is not None), 0)
                 for half in ("float16", "bfloat16")}
        if not since["float16"] or name in LEFT_OUT:
            continue
        outputs = halves(name, since["float16"], "float16")
        last = onnx.defs.get_schema(name, NEWEST)
        variadic = len(last.outputs) == 1 and last.outputs[0].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
        mask = 255 if variadic else sum(1 << n for n in outputs)
        yield f'{{"{name}", {since["float16"]}, {since["bfloat16"]}, {mask}}},'


line = "   "
for row in rows():
    if len(line) + len(row) > 126:
        print(line)
        line = "   "
    line += " " + row
print(line)
