#include "model/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include "model/onnx_dtype.h"
#include "onnx-ml.pb.h"

namespace fiel {
namespace {

std::unexpected<Error> refuse_tensor(std::string message) {
  return refuse(std::move(message), "write it with onnx.numpy_helper.from_array");
}

/// The typed fields are wider than the elements that they hold (int32_data for int8 and so on).
template <class Element, class Field>
Result<> copy_field(const Field& field, Tensor& tensor) {
  const auto count = tensor.bytes.size() / sizeof(Element);
  if (static_cast<std::size_t>(field.size()) != count) {
    return refuse_tensor(fmt::format("{} {} wants {} elements, but there are {}", to_string(tensor.dtype),
                              to_string(tensor.shape), count, field.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = static_cast<Element>(field.Get(static_cast<int>(i)));
    std::memcpy(tensor.bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return {};
}

Result<> copy_typed(const onnx::TensorProto& proto, Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::kFloat64:
      return copy_field<double>(proto.double_data(), tensor);
    case DType::kFloat32:
      return copy_field<float>(proto.float_data(), tensor);
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kUInt16:
      return copy_field<std::uint16_t>(proto.int32_data(), tensor);
    case DType::kInt64:
      return copy_field<std::int64_t>(proto.int64_data(), tensor);
    case DType::kInt32:
      return copy_field<std::int32_t>(proto.int32_data(), tensor);
    case DType::kInt16:
      return copy_field<std::int16_t>(proto.int32_data(), tensor);
    case DType::kInt8:
      return copy_field<std::int8_t>(proto.int32_data(), tensor);
    case DType::kUInt64:
      return copy_field<std::uint64_t>(proto.uint64_data(), tensor);
    case DType::kUInt32:
      return copy_field<std::uint32_t>(proto.uint64_data(), tensor);
    case DType::kUInt8:
    case DType::kBool:
      return copy_field<std::uint8_t>(proto.int32_data(), tensor);
  }
  return refuse_tensor("its type is unknown");
}

Result<NamedTensor> convert(const onnx::TensorProto& proto) {
  const auto dtype = dtype_of_onnx(proto.data_type());
  if (!dtype)
    return refuse_tensor(fmt::format("it is no tensor of a type that fiel carries ({})",
                              onnx_type_name(proto.data_type())));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return refuse_tensor("its data lie in another file");
  NamedTensor result{proto.name(), {*dtype, Shape(proto.dims().begin(), proto.dims().end()), {}}};
  Tensor& tensor = result.tensor;
  const auto count = element_count(tensor.shape);
  // Before memory is taken: no field of a file below 2 GiB holds more than that.
  if (!count || *count > std::numeric_limits<int>::max())
    return refuse_tensor(fmt::format("its shape {} is no shape", to_string(tensor.shape)));
  const std::size_t bytes = static_cast<std::size_t>(*count) * element_size(*dtype);
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != bytes) {
      return refuse_tensor(fmt::format("{} {} takes {} bytes, but there are {}", to_string(*dtype),
                                to_string(tensor.shape), bytes, proto.raw_data().size()));
    }
    tensor.bytes.resize(bytes);
    if (bytes > 0) std::memcpy(tensor.bytes.data(), proto.raw_data().data(), bytes);
    return result;
  }
  const auto fields =
      std::max({proto.float_data_size(), proto.int32_data_size(), proto.int64_data_size(),
                proto.double_data_size(), proto.uint64_data_size()});
  if (*count != fields) {
    return refuse_tensor(fmt::format("{} {} wants {} elements, but there are {}", to_string(*dtype),
                              to_string(tensor.shape), *count, fields));
  }
  tensor.bytes.resize(bytes);
  FIEL_TRY(copy_typed(proto, tensor));
  return result;
}

}  // namespace

Result<NamedTensor> read_onnx_tensor(const std::filesystem::path& path) {
  std::error_code code;
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, code) || !file) {
    return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", path.string()));
  }
  onnx::TensorProto proto;
  auto tensor = proto.ParseFromIstream(&file)
                    ? convert(proto)
                    : Result<NamedTensor>(refuse_tensor("it is no ONNX tensor, or a truncated one"));
  if (!tensor) return std::unexpected(std::move(tensor).error().with_context(path.string()));
  return tensor;
}

}  // namespace fiel
