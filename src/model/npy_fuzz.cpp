#include "base/fuzz.h"
#include "model/npy.h"

namespace {

std::string npy_of(fiel::DType dtype, const fiel::Shape& shape) {
  std::vector<std::byte> bytes(fiel::element_size(dtype) * static_cast<std::size_t>(fiel::element_count(shape).value()));
  const auto file = fiel::format_npy({dtype, shape, bytes});
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

}  // namespace

std::vector<std::string> fiel::fuzz_seeds() {
  return {npy_of(DType::kFloat32, {}), npy_of(DType::kInt64, {3}), npy_of(DType::kBool, {2, 0, 4}),
          npy_of(DType::kFloat16, {1, 2, 3, 4})};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tensor = fiel::parse_npy(std::as_bytes(std::span(data, size)));
  if (tensor) (void)fiel::parse_npy(fiel::format_npy(tensor->view())).value();  // what we write, we can read
  return 0;
}
