#include "base/files.h"
#include "base/fuzz.h"
#include "model/npy.h"

std::vector<std::string> fiel::fuzz_seeds() {
  const std::vector<std::byte> zeros(64);
  const auto of = [&](DType dtype, const Shape& shape) {
    return TensorView{dtype, shape, std::span(zeros).first(element_size(dtype) * static_cast<std::size_t>(element_count(shape).value()))};
  };
  static const Shape kSquare = {2, 2}, kNone = {0}, kScalar = {};
  std::vector<std::string> seeds;
  for (const auto& arrays : {std::map<std::string, TensorView>{{"x", of(DType::kFloat32, kSquare)}},
                             std::map<std::string, TensorView>{{"ids", of(DType::kInt64, kSquare)}, {"mask", of(DType::kBool, kNone)},
                                                               {"t", of(DType::kFloat64, kScalar)}}}) {
    const auto path = fuzz_folder() / "seed.npz";
    if (write_npz(path, arrays)) seeds.push_back(read_text(path).value());
  }
  return seeds;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kMaxBytes = std::int64_t{16} << 20;
  const auto arrays = fiel::read_npz(fiel::fuzz_file("input.npz", fiel::fuzz_text(data, size)), kMaxBytes);
  if (!arrays) return 0;
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : *arrays) bytes += std::ssize(tensor.bytes);
  if (bytes > kMaxBytes) __builtin_trap();
  return 0;
}
