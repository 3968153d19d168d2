// A reference that nobody runs: its outputs lie in a folder, laid out like a data set.
#include <fmt/format.h>

#include "gate/reference.h"
#include "model/npy.h"

namespace fiel {
namespace {

constexpr std::size_t kChunk = 64;  // evaluator programs are started once for so many samples

std::filesystem::path folder_of(const Contract& contract, const SampleSet& set) {
  const std::filesystem::path& folder = contract.accuracy.reference_files;
  auto own = folder / set.source.filename();
  std::error_code ignored;
  return std::filesystem::is_directory(own, ignored) ? own : folder;
}

// Row `index` of a stacked tensor, kept as a batch of one.
Tensor row_of(const Tensor& stacked, std::size_t index) {
  Tensor row{stacked.dtype, stacked.shape, {}};
  row.shape.front() = 1;
  const std::size_t size =
      static_cast<std::size_t>(element_count(row.shape).value_or(0)) * element_size(row.dtype);
  const auto begin = stacked.bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  row.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
  return row;
}

Result<> check_stacked(const std::map<std::string, Tensor>& stacked, const std::filesystem::path& file,
                       const SampleSet& set) {
  for (const auto& [name, tensor] : stacked) {
    if (!tensor.shape.empty() && tensor.shape.front() == static_cast<std::int64_t>(set.samples.size())) continue;
    return fail(ErrorKind::kContract,
                fmt::format("{} in {} is {}, but the set in {} has {} samples", name, file.string(),
                            to_string(tensor.shape), set.source.string(), set.samples.size()),
                "axis 0 must be the samples, in the set's order");
  }
  return {};
}

Result<SampleOutputs> read_one(const std::filesystem::path& folder, const SampleSet& set, std::size_t index) {
  const auto file = folder / (set.samples[index].id + ".npz");
  auto tensors = read_npz(file);
  if (!tensors) {
    Error error = std::move(tensors).error().with_context(
        fmt::format("the reference outputs of sample {}", set.samples[index].id));
    error.kind = ErrorKind::kContract;
    if (error.hint.empty()) {
      error.hint = fmt::format("{} must hold one <sample>.npz for each sample, or one outputs.npz for all",
                               folder.string());
    }
    return std::unexpected(std::move(error));
  }
  return SampleOutputs{.index = static_cast<int>(index), .tensors = *std::move(tensors)};
}

}  // namespace

Result<ReferenceStore> reference_from_files(const Contract& contract, const SampleSet& set,
                                            const std::filesystem::path& file,
                                            const std::filesystem::path& scratch, int cancel_fd) {
  auto store = FIEL_TRY(ReferenceStore::create(contract, set, file, scratch, cancel_fd));
  const auto folder = folder_of(contract, set);
  const auto stacked_file = folder / "outputs.npz";
  std::error_code ignored;
  std::map<std::string, Tensor> stacked;
  if (std::filesystem::is_regular_file(stacked_file, ignored)) {
    stacked = FIEL_TRY(read_npz(stacked_file));
    FIEL_TRY(check_stacked(stacked, stacked_file, set));
  }
  std::vector<SampleOutputs> chunk;
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    if (stacked.empty()) {
      auto sample = read_one(folder, set, i);
      if (!sample) return std::unexpected(std::move(sample).error());
      chunk.push_back(*std::move(sample));
    } else {
      auto& sample = chunk.emplace_back(SampleOutputs{.index = static_cast<int>(i), .tensors = {}});
      for (const auto& [name, tensor] : stacked) sample.tensors.emplace(name, row_of(tensor, i));
    }
    if (chunk.size() < kChunk && i + 1 < set.samples.size()) continue;
    FIEL_TRY(store.add(chunk));
    chunk.clear();
  }
  FIEL_TRY(store.finish());
  return store;
}

}  // namespace fiel
