#include "worker/engine_fake_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace fiel::fake {
namespace {

namespace fs = std::filesystem;

Result<Tensor> read_tensor(const Json& place) {
  const fs::path file = FIEL_TRY(get_string(place, "file"));
  const std::int64_t offset = FIEL_TRY(get_int(place, "offset"));
  const auto dtype = parse_dtype(FIEL_TRY(get_string(place, "dtype")));
  Tensor tensor;
  tensor.shape = place.value("shape", Shape{});
  const auto count = element_count(tensor.shape);
  if (!dtype || !count || offset % 64 != 0)
    return fail(ErrorKind::kProtocol, "a sample with a wrong dtype, shape or offset");
  tensor.dtype = *dtype;
  tensor.bytes.resize(static_cast<std::size_t>(*count) * element_size(*dtype));
  const Fd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::pread(descriptor.get(), tensor.bytes.data(), tensor.bytes.size(), offset);
  if (got != std::ssize(tensor.bytes))
    return fail(ErrorKind::kProtocol, "cannot read a sample from " + file.string());
  return tensor;
}

// What the fault "latencies" writes instead; every one of these must be refused.
void spoil_latencies(const std::string& how, std::vector<double>& latencies) {
  if (how == "nan") latencies.back() = std::numeric_limits<double>::quiet_NaN();
  if (how == "negative") latencies.back() = -latencies.back();
  if (how == "zero") latencies.back() = 0;
  if (how == "infinite") latencies.back() = std::numeric_limits<double>::infinity();
  if (how == "short") latencies.pop_back();
  if (how == "long") latencies.push_back(latencies.back());
  if (how == "empty") latencies.clear();
}

}  // namespace

Result<Tensors> read_inputs(const Json& sample) {
  Tensors inputs;
  for (const auto& [name, place] : sample["inputs"].items())
    inputs[name] = FIEL_TRY(read_tensor(place));
  return inputs;
}

Result<> write_plain(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), std::ssize(bytes));
  file.close();
  if (!file) return fail(ErrorKind::kEnvironment, "cannot write " + path.string());
  return {};
}

Result<std::vector<double>> read_arrivals(const fs::path& path) {
  const std::string bytes = FIEL_TRY(read_text(path));
  std::vector<double> arrivals(bytes.size() / sizeof(double));
  if (!arrivals.empty()) std::memcpy(arrivals.data(), bytes.data(), arrivals.size() * sizeof(double));
  return arrivals;
}

Result<> write_latencies(const fs::path& path, std::vector<double> latencies,
                         const std::string& how) {
  spoil_latencies(how, latencies);
  if (how == "missing") return {};
  const std::string_view bytes(reinterpret_cast<const char*>(latencies.data()),
                               latencies.size() * sizeof(double));
  if (how != "link")
    return write_plain(path, how == "cut" ? bytes.substr(0, bytes.size() - 3) : bytes);
  FIEL_TRY(write_plain(path.string() + ".real", bytes));
  std::error_code ignored;
  fs::create_symlink(path.string() + ".real", path, ignored);
  return {};
}

}  // namespace fiel::fake
