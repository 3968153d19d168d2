#include "variant/half_types.h"

#include <algorithm>

namespace fiel {
namespace {

struct Operator {
  std::string_view name;
  int float16_since, bfloat16_since;  // opset, from 13 on; 0: never
  unsigned outputs;                   // bit n: the n-th output has the inputs' type
};

// Made by half_types.py from the schemas of opset 13 to 22.
constexpr Operator kOperators[] = {
    {"Abs", 13, 13, 1}, {"Acos", 13, 22, 1}, {"Acosh", 13, 22, 1}, {"Add", 13, 13, 1}, {"AffineGrid", 20, 20, 1},
    {"ArgMax", 13, 13, 0}, {"ArgMin", 13, 13, 0}, {"Asin", 13, 22, 1}, {"Asinh", 13, 22, 1}, {"Atan", 13, 22, 1},
    {"Atanh", 13, 22, 1}, {"AveragePool", 13, 22, 1}, {"BatchNormalization", 13, 14, 31}, {"Ceil", 13, 13, 1},
    {"CenterCropPad", 18, 18, 1}, {"Clip", 13, 13, 1}, {"Col2Im", 18, 18, 1}, {"Compress", 13, 0, 1}, {"Concat", 13, 13, 1},
    {"Conv", 13, 22, 1}, {"ConvTranspose", 13, 22, 1}, {"Cos", 13, 22, 1}, {"Cosh", 13, 22, 1}, {"CumSum", 14, 14, 1},
    {"DFT", 17, 17, 1}, {"DeformConv", 19, 22, 1}, {"DepthToSpace", 13, 13, 1}, {"Det", 13, 22, 1}, {"Div", 13, 13, 1},
    {"Einsum", 13, 0, 1}, {"Elu", 13, 22, 1}, {"Equal", 13, 13, 0}, {"Erf", 13, 13, 1}, {"Exp", 13, 13, 1},
    {"Expand", 13, 13, 1}, {"Flatten", 13, 13, 1}, {"Floor", 13, 13, 1}, {"GRU", 13, 22, 3}, {"Gather", 13, 13, 1},
    {"GatherElements", 13, 13, 1}, {"GatherND", 13, 13, 1}, {"Gelu", 20, 20, 1}, {"Gemm", 13, 13, 1},
    {"GlobalAveragePool", 13, 22, 1}, {"GlobalLpPool", 13, 22, 1}, {"GlobalMaxPool", 13, 22, 1}, {"Greater", 13, 13, 0},
    {"GreaterOrEqual", 13, 16, 0}, {"GroupNormalization", 21, 21, 1}, {"HardSigmoid", 13, 22, 1}, {"HardSwish", 14, 22, 1},
    {"Hardmax", 13, 13, 1}, {"Identity", 13, 13, 1}, {"InstanceNormalization", 13, 22, 1}, {"IsInf", 20, 20, 0},
    {"IsNaN", 13, 13, 0}, {"LRN", 13, 13, 1}, {"LSTM", 13, 22, 7}, {"LeakyRelu", 13, 16, 1}, {"Less", 13, 13, 0},
    {"LessOrEqual", 13, 16, 0}, {"Log", 13, 13, 1}, {"LogSoftmax", 13, 13, 1}, {"LpNormalization", 13, 22, 1},
    {"LpPool", 13, 22, 1}, {"MatMul", 13, 13, 1}, {"Max", 13, 13, 1}, {"MaxPool", 13, 22, 1}, {"MaxRoiPool", 13, 22, 1},
    {"Mean", 13, 13, 1}, {"MeanVarianceNormalization", 13, 13, 1}, {"Min", 13, 13, 1}, {"Mish", 18, 22, 1}, {"Mod", 13, 13, 1},
    {"Mul", 13, 13, 1}, {"Neg", 13, 13, 1}, {"NonZero", 13, 13, 0}, {"PRelu", 13, 16, 1}, {"Pad", 13, 13, 1},
    {"Pow", 13, 15, 1}, {"RNN", 13, 22, 3}, {"Reciprocal", 13, 13, 1}, {"ReduceL1", 13, 13, 1}, {"ReduceL2", 13, 13, 1},
    {"ReduceLogSum", 13, 13, 1}, {"ReduceLogSumExp", 13, 13, 1}, {"ReduceMax", 13, 13, 1}, {"ReduceMean", 13, 13, 1},
    {"ReduceMin", 13, 13, 1}, {"ReduceProd", 13, 13, 1}, {"ReduceSum", 13, 13, 1}, {"ReduceSumSquare", 13, 13, 1},
    {"Relu", 13, 13, 1}, {"Reshape", 13, 13, 1}, {"ReverseSequence", 13, 0, 1}, {"RoiAlign", 13, 22, 1}, {"Round", 13, 22, 1},
    {"STFT", 17, 17, 1}, {"ScatterElements", 13, 13, 1}, {"ScatterND", 13, 13, 1}, {"Selu", 13, 22, 1}, {"Shape", 13, 13, 0},
    {"Shrink", 13, 0, 1}, {"Sigmoid", 13, 13, 1}, {"Sign", 13, 13, 1}, {"Sin", 13, 22, 1}, {"Sinh", 13, 22, 1},
    {"Size", 13, 13, 0}, {"Slice", 13, 13, 1}, {"Softmax", 13, 13, 1}, {"Softplus", 13, 22, 1}, {"Softsign", 13, 22, 1},
    {"SpaceToDepth", 13, 13, 1}, {"Split", 13, 13, 255}, {"Sqrt", 13, 13, 1}, {"Squeeze", 13, 13, 1}, {"Sub", 13, 13, 1},
    {"Sum", 13, 13, 1}, {"Tan", 13, 22, 1}, {"Tanh", 13, 13, 1}, {"ThresholdedRelu", 13, 22, 1}, {"Tile", 13, 13, 1},
    {"TopK", 13, 0, 1}, {"Transpose", 13, 13, 1}, {"Trilu", 14, 14, 1}, {"Unique", 13, 0, 1}, {"Unsqueeze", 13, 13, 1},
    {"Where", 13, 16, 1},
};

constexpr unsigned kAllOutputs = 255;
constexpr int kMaskBits = 8;

const Operator* find(std::string_view name) {
  const auto found = std::ranges::lower_bound(kOperators, name, {}, &Operator::name);
  return found == std::end(kOperators) || found->name != name ? nullptr : found;
}

}  // namespace

bool takes_half(std::string_view op, HalfType type, std::int64_t opset) {
  const Operator* known = find(op);
  if (known == nullptr) return false;
  const int since = type == HalfType::kFloat16 ? known->float16_since : known->bfloat16_since;
  return since > 0 && opset >= since;
}

std::optional<bool> output_follows_inputs(std::string_view op, int number) {
  const Operator* known = find(op);
  if (known == nullptr) return std::nullopt;
  if (known->outputs == kAllOutputs) return true;
  return number < kMaskBits && (known->outputs >> number & 1U) != 0;
}

}  // namespace fiel
