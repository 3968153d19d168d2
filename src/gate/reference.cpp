#include "gate/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/files.h"
#include "contract/pack.h"
#include "gate/evaluator.h"
#include "gate/mapped_file.h"
#include "gate/reference_index.h"

namespace fiel {

struct ReferenceStore::Impl {
  const Contract* contract = nullptr;
  const SampleSet* set = nullptr;
  std::filesystem::path file;
  EvaluatorPlace place;
  ChunkFolder chunk;
  std::optional<PackWriter> writer;  // until finish()
  std::optional<MappedFile> map;     // from then on
  ReferenceIndex index;
  std::vector<OutputViews> views;

  std::filesystem::path index_file() const { return file.string() + ".json"; }
  Result<> check_names(const OutputViews& outputs, const Sample& sample) const;
  Result<TensorTraits> finite_traits(const std::string& name, const TensorView& tensor, const Sample& sample) const;
  Result<> keep(const SampleOutputs& sample);
  Result<> score(const TaskRule& task, std::span<const ScoreItem> items, std::span<const int> indices);
  Result<> map_views();
};

namespace {

using Builtin = BuiltinEvaluator;

// What a single value means is known only once all of the reference's values are.
bool is_scored_at_the_end(const TaskRule& task) { return task.builtin == Builtin::kBinary; }

// A program's words are wrong for the reference: then the contract is, since nothing of a candidate is involved.
Error as_contract_error(Error error) {
  if (error.kind == ErrorKind::kProtocol || error.kind == ErrorKind::kTimeout) {
    error.kind = ErrorKind::kContract;
    error.message += " (on the reference's own outputs)";
  }
  return error;
}

bool may_be_non_finite(const Accuracy& accuracy, const std::string& output) {
  return std::ranges::any_of(accuracy.tensors, [&](const TensorRule& rule) {
    return rule.output == output && rule.non_finite == NonFinite::kWhereReferenceIs;
  });
}

}  // namespace

// The first sample says which outputs there are; rules and tasks must name those, and all samples must have them.
Result<> ReferenceStore::Impl::check_names(const OutputViews& outputs, const Sample& sample) const {
  const std::string hint = "the outputs are " + names_of(outputs);
  if (outputs.empty()) return fail(ErrorKind::kContract, "the reference gave no outputs at all");
  for (const TensorRule& rule : contract->accuracy.tensors) {
    if (outputs.contains(rule.output)) continue;
    return fail(ErrorKind::kContract,
                fmt::format("[[accuracy.tensor]] names output {}, which the model does not have", rule.output), hint);
  }
  if (index.traits.empty()) return {};
  const bool same = outputs.size() == index.traits.size() &&
                    std::ranges::equal(outputs, index.traits, {}, [](const auto& pair) { return pair.first; },
                                       [](const auto& pair) { return pair.first; });
  if (same) return {};
  return fail(ErrorKind::kContract,
              fmt::format("the reference gave other outputs for sample {} than for those before it", sample.id), hint);
}

Result<TensorTraits> ReferenceStore::Impl::finite_traits(const std::string& name, const TensorView& tensor,
                                                         const Sample& sample) const {
  const TensorTraits traits = tensor_traits(tensor);
  if (traits.non_finite == 0 || may_be_non_finite(contract->accuracy, name)) return traits;
  return fail(ErrorKind::kContract,
              fmt::format("the reference's output {} of sample {} has {} values of {} that are NaN or infinite", name,
                          sample.id, traits.non_finite, traits.count),
              "check the model and this sample; where infinities are meant (masks), write an [[accuracy.tensor]] rule "
              "for the output with allow_non_finite = \"where_reference_is\"");
}

Result<> ReferenceStore::Impl::keep(const SampleOutputs& sample) {
  const bool known = sample.index >= 0 && static_cast<std::size_t>(sample.index) < set->samples.size();
  if (!known || !index.places[static_cast<std::size_t>(sample.index)].empty()) {
    return fail(ErrorKind::kProtocol,
                fmt::format("the reference gave outputs for sample number {} that {}", sample.index,
                            known ? "were there already" : "the set does not have"));
  }
  const Sample& of = set->samples[static_cast<std::size_t>(sample.index)];
  FIEL_TRY(check_names(views_of(sample), of));
  for (const auto& [name, tensor] : sample.tensors) {
    const auto count = element_count(tensor.shape);
    if (!count || static_cast<std::size_t>(*count) * element_size(tensor.dtype) != tensor.bytes.size()) {
      return fail(ErrorKind::kProtocol,
                  fmt::format("the reference's output {} of sample {} is {} {}, but holds {} bytes", name, of.id,
                              to_string(tensor.dtype), to_string(tensor.shape), tensor.bytes.size()));
    }
    const TensorTraits traits = FIEL_TRY(finite_traits(name, tensor.view(), of));
    index.traits[name].merge(traits);
    index.places[static_cast<std::size_t>(sample.index)].emplace(name, FIEL_TRY(writer->add(tensor)));
  }
  return {};
}

Result<> ReferenceStore::Impl::score(const TaskRule& task, std::span<const ScoreItem> items,
                                     std::span<const int> indices) {
  EvaluatorPlace shared = place;
  shared.chunk = &chunk;
  ScoreOptions options;
  if (is_scored_at_the_end(task)) {
    const auto name = FIEL_TRY(output_of(task, *items.front().outputs));
    options.binary_threshold = binary_threshold(index.traits.at(*name));
  }
  auto scores = score_items(task, items, options, shared);
  if (!scores) return std::unexpected(as_contract_error(std::move(scores).error()));
  for (std::size_t i = 0; i < indices.size(); ++i) index.scores[task.name][indices[i]] = (*scores)[i];
  return {};
}

Result<> ReferenceStore::Impl::map_views() {
  map = FIEL_TRY(MappedFile::open(file));
  const auto bytes = map->bytes();
  if (static_cast<std::int64_t>(bytes.size()) != index.pack_bytes) {
    return fail(ErrorKind::kCorrupt, fmt::format("{} has {} bytes instead of {}", file.string(), bytes.size(),
                                                 index.pack_bytes),
                "the reference outputs have to be made again");
  }
  views.clear();
  for (const auto& places : index.places) {
    OutputViews& outputs = views.emplace_back();
    for (const auto& [name, at] : places) {
      const auto size = static_cast<std::size_t>(*element_count(at.shape)) * element_size(at.dtype);
      outputs.emplace(name, TensorView{at.dtype, at.shape, bytes.subspan(static_cast<std::size_t>(at.offset), size)});
    }
  }
  return {};
}

ReferenceStore::ReferenceStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReferenceStore::ReferenceStore(ReferenceStore&&) noexcept = default;
ReferenceStore& ReferenceStore::operator=(ReferenceStore&&) noexcept = default;
ReferenceStore::~ReferenceStore() = default;

Result<ReferenceStore> ReferenceStore::create(const Contract& contract, const SampleSet& set,
                                              const std::filesystem::path& file, const std::filesystem::path& scratch,
                                              int cancel_fd) {
  auto impl = std::make_unique<Impl>();
  impl->contract = &contract;
  impl->set = &set;
  impl->file = file;
  impl->place = {.scratch = scratch, .dataset = set.source, .cancel_fd = cancel_fd};
  std::error_code ignored;  // an index that stays would vouch for a pack that is being rewritten
  std::filesystem::remove(impl->index_file(), ignored);
  FIEL_TRY(ensure_folder(file.parent_path()));
  impl->writer.emplace(FIEL_TRY(PackWriter::create(file)));
  impl->index.set_digest = set.digest;
  impl->index.places.resize(set.samples.size());
  return ReferenceStore(std::move(impl));
}

Result<ReferenceStore> ReferenceStore::open(const Contract& contract, const SampleSet& set,
                                            const std::filesystem::path& file) {
  auto impl = std::make_unique<Impl>();
  impl->contract = &contract;
  impl->set = &set;
  impl->file = file;
  impl->index = FIEL_TRY(read_reference_index(impl->index_file()));
  const auto corrupt = [&file](std::string_view what) {
    return fail(ErrorKind::kCorrupt, fmt::format("{} holds reference outputs {}", file.string(), what),
                "the reference outputs have to be made again");
  };
  if (impl->index.set_digest != set.digest || impl->index.places.size() != set.samples.size()) {
    return corrupt("of another data set");
  }
  for (const TaskRule& task : contract.accuracy.tasks) {
    if (!impl->index.scores.contains(task.name)) return corrupt("without scores of task " + task.name);
  }
  auto mapped = impl->map_views();
  if (!mapped) return corrupt(mapped.error().message);
  if (FIEL_TRY(sha256_file(file)) != impl->index.pack_digest) return corrupt("that are not the ones it was finished with");
  return ReferenceStore(std::move(impl));
}

Result<> ReferenceStore::add(std::span<const SampleOutputs> chunk) {
  FIEL_CHECK(impl_->writer.has_value());
  std::vector<OutputViews> views;
  std::vector<int> indices;
  for (const SampleOutputs& sample : chunk) {
    FIEL_TRY(impl_->keep(sample));
    views.push_back(views_of(sample));
    indices.push_back(sample.index);
  }
  std::vector<ScoreItem> items;
  for (std::size_t i = 0; i < views.size(); ++i) {
    items.push_back({&impl_->set->samples[static_cast<std::size_t>(indices[i])], &views[i], &views[i]});
  }
  impl_->chunk.next_chunk();
  for (const TaskRule& task : impl_->contract->accuracy.tasks) {
    if (items.empty() || is_scored_at_the_end(task)) continue;
    FIEL_TRY(impl_->score(task, items, indices));
  }
  return {};
}

Result<> ReferenceStore::finish() {
  FIEL_CHECK(impl_->writer.has_value());
  for (const auto& places : impl_->index.places) FIEL_CHECK(!places.empty());
  FIEL_TRY(impl_->writer->commit_unsynced());
  impl_->index.pack_digest = FIEL_TRY(sha256_file(impl_->file));
  impl_->index.pack_bytes = impl_->writer->bytes();
  impl_->writer.reset();
  FIEL_TRY(impl_->map_views());
  std::vector<ScoreItem> items;
  std::vector<int> indices;
  for (std::size_t i = 0; i < impl_->views.size(); ++i) {
    items.push_back({&impl_->set->samples[i], &impl_->views[i], &impl_->views[i]});
    indices.push_back(static_cast<int>(i));
  }
  impl_->chunk.next_chunk();
  for (const TaskRule& task : impl_->contract->accuracy.tasks) {
    if (is_scored_at_the_end(task)) FIEL_TRY(impl_->score(task, items, indices));
  }
  return write_reference_index(impl_->index_file(), impl_->index);
}

Result<std::map<std::string, Tensor>> ReferenceStore::outputs(int index) const {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, view] : views(index)) {
    tensors.emplace(name, Tensor{view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
  }
  return tensors;
}

const OutputViews& ReferenceStore::views(int index) const {
  FIEL_CHECK(index >= 0 && static_cast<std::size_t>(index) < impl_->views.size());
  return impl_->views[static_cast<std::size_t>(index)];
}

const Scores& ReferenceStore::scores() const { return impl_->index.scores; }

std::map<std::string, double> ReferenceStore::mean_scores() const {
  std::map<std::string, double> means;
  for (const auto& [task, by_sample] : impl_->index.scores) {
    double sum = 0;
    for (const auto& [sample, score] : by_sample) sum += score;
    means[task] = sum / static_cast<double>(by_sample.size());
  }
  return means;
}

std::map<std::string, std::string> ReferenceStore::mistrusted() const {
  std::map<std::string, std::string> found;
  for (const auto& [name, traits] : impl_->index.traits) {
    if (auto reason = reason_to_mistrust(traits, TensorRule())) found.emplace(name, *std::move(reason));
  }
  for (const TensorRule& rule : impl_->contract->accuracy.tensors) {
    const auto traits = impl_->index.traits.find(rule.output);
    if (traits == impl_->index.traits.end()) continue;
    if (auto reason = reason_to_mistrust(traits->second, rule)) found.emplace(rule.output, *std::move(reason));
  }
  return found;
}

const std::map<std::string, TensorTraits>& ReferenceStore::traits() const { return impl_->index.traits; }

ScoreOptions ReferenceStore::score_options(const TaskRule& task) const {
  if (!is_scored_at_the_end(task)) return {};
  const auto name = output_of(task, views(0));
  FIEL_CHECK(name && *name);
  return {.binary_threshold = binary_threshold(impl_->index.traits.at(**name))};
}

}  // namespace fiel
