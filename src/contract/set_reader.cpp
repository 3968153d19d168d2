#include "contract/set_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/digest.h"
#include "base/files.h"
#include "contract/check_model.h"
#include "contract/pack.h"
#include "contract/sample_source.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

/// All but the files that a pack depends on: with another contract or model it must be checked
/// anew.
std::string record_key(const Contract& contract, const OnnxModel& model, const FolderOrder& order,
                       const WantedSet& set) {
  Sha256 digest;
  digest.field("pack 1")
      .field(model.digest)
      .field(order.folder.string())
      .field(fmt::format("{} {}", set.from, set.below));
  for (const TrafficShape& shape : contract.shapes) {
    for (const auto& [name, dims] : shape.inputs) digest.field(name).field(to_string(dims));
    digest.field("shape");
  }
  for (const auto& [name, range] : contract.input_ranges)
    digest.field(name).field(fmt::format("{} {}", range.low, range.high));
  for (const StateLink& link : contract.state) digest.field(link.input).field(link.output);
  for (const TaskRule& task : contract.accuracy.tasks) digest.field(task.group);
  return digest.hex();
}

std::string set_digest(const SampleSet& set) {
  // Sorted and without names: the ledger counts openings by this digest, and renamed files are no
  // new data.
  std::vector<std::string> lines;
  for (const Sample& sample : set.samples) {
    lines.push_back(Sha256()
                        .field(sample.digest)
                        .field(sample.label)
                        .field(sample.slice)
                        .field(sample.group)
                        .hex());
  }
  std::ranges::sort(lines);
  Sha256 digest;
  for (const std::string& line : lines) digest.field(line);
  return digest.hex();
}

void add_warnings(const std::string& name, SampleSet& set) {
  std::map<std::string, std::int64_t> count_of;
  for (const Sample& sample : set.samples) ++count_of[sample.digest];
  const auto repeated = set.samples.size() - count_of.size();
  if (repeated == 0) return;
  set.warnings.push_back(fmt::format(
      "{} of the {} samples of {} repeat another's content: the set proves less than its size says",
      repeated, set.samples.size(), name));
}

/// A set while it is being filled.
struct Filling {
  WantedSet wanted;
  PackWriter writer;
  SampleSet set;
  std::string labels_csv;  // of a split set

  Result<> add(RawSample raw, const LabelRow* row, const std::string& digest) {
    Sample sample{raw.id, "", "", "", digest, {}};
    if (row != nullptr) {
      sample.label = row->label;
      sample.slice = row->slice;
      sample.group = row->group;
    }
    for (const auto& [name, tensor] : raw.inputs)
      sample.inputs.emplace(name, FIEL_TRY(writer.add(tensor)));
    labels_csv +=
        format_csv_row(row != nullptr ? row->fields : std::vector<std::string>{sample.id});
    set.samples.push_back(std::move(sample));
    return {};
  }
};

/// Where evaluators find a set's labels: the user's folder, or for a part of it one of ours beside
/// the pack.
fs::path source_of(const FolderOrder& order, const WantedSet& set) {
  return order.splitting == Splitting::kWhole ? order.folder : set.pack.parent_path() / set.name;
}

/// Records that were made of the very same files.
std::optional<std::vector<SampleSet>> reuse(const FolderOrder& order,
                                            const std::vector<std::optional<PackRecord>>& records,
                                            const std::vector<SourceFile>& files) {
  std::vector<SampleSet> sets;
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::error_code code;
    const fs::path source = source_of(order, order.sets[i]);
    if (!records[i] || records[i]->files != files) return std::nullopt;
    if (order.splitting == Splitting::kByContent && !fs::exists(source / "labels.csv", code))
      return std::nullopt;
    sets.push_back(records[i]->set);
    sets.back().source = source;
  }
  return sets;
}

std::string changed_files(const std::vector<SourceFile>& before,
                          const std::vector<SourceFile>& now) {
  std::vector<std::string> names;
  for (const SourceFile& file : before) {
    if (std::ranges::find(now, file) == now.end()) names.push_back(file.name);
  }
  for (const SourceFile& file : now) {
    if (std::ranges::find(before, file.name, &SourceFile::name) == before.end())
      names.push_back(file.name);
  }
  if (names.empty()) return "";
  return fmt::format(" (changed: {}{})", names[0],
                     names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
}

bool same_samples(const SampleSet& a, const SampleSet& b) {
  const auto same = [](const Sample& x, const Sample& y) {
    return x.id == y.id && x.digest == y.digest;
  };
  return a.digest == b.digest && std::ranges::equal(a.samples, b.samples, same);
}

/// What the files themselves say, in the place where the contract names them.
Error in_contract(Error error, const Contract& contract, const FolderOrder& order) {
  // A folder that cannot be read, or an array that is none, is wrong data; a full disk stays the
  // machine's fault.
  return std::move(error).with_context(contract.place(order.key));
}

Result<> read_all(const Contract& contract, const OnnxModel& model, const FolderOrder& order,
                  SampleSource& source, std::vector<Filling>& fillings) {
  for (std::int64_t i = 0; i < source.size(); ++i) {
    RawSample raw = FIEL_TRY(source.read(i));
    auto checked = check_inputs(contract, model, raw.inputs);
    if (!checked) {
      return std::unexpected(std::move(checked).error().with_context(
          fmt::format("sample '{}' ({})", raw.id, raw.file.string())));
    }
    const std::string digest = sample_digest(raw.inputs);
    const LabelRow* row = source.row(i);
    const bool is_grouped = row != nullptr && !row->group.empty();
    const double place = order.splitting == Splitting::kWhole
                             ? 0.0
                             : place_by_hash(is_grouped ? "group:" + row->group : digest);
    for (Filling& filling : fillings) {
      if (place >= filling.wanted.from && place < filling.wanted.below) {
        FIEL_TRY(filling.add(std::move(raw), row, digest));
        break;
      }
    }
  }
  return {};
}

/// Evaluators want a folder with the labels of their set; of a folder that we split, we write it.
Result<> write_split_source(const SampleSource& source, Filling& filling) {
  FIEL_TRY(ensure_folder(filling.set.source));
  const auto& labels = source.labels();
  const std::string header =
      format_csv_row(labels ? labels->header : std::vector<std::string>{"sample"});
  return write_atomic(filling.set.source / "labels.csv", header + filling.labels_csv);
}

Result<std::vector<SampleSet>> read_fresh(const Contract& contract, const OnnxModel& model,
                                          const FolderOrder& order,
                                          const std::vector<SourceFile>& files,
                                          const std::vector<std::optional<PackRecord>>& records) {
  auto source = FIEL_TRY(SampleSource::open(order.folder, contract, model));
  std::vector<Filling> fillings;
  for (const WantedSet& wanted : order.sets) {
    FIEL_TRY(ensure_folder(wanted.pack.parent_path()));
    fillings.push_back({wanted, FIEL_TRY(PackWriter::create(wanted.pack)), {}, ""});
  }
  FIEL_TRY(read_all(contract, model, order, *source, fillings));
  if (FIEL_TRY(list_source_files(order.folder)) != files) {
    return fail(ErrorKind::kContract, "the data changed while they were being read",
                "wait until they are written, then start again");
  }
  std::vector<SampleSet> sets;
  for (std::size_t i = 0; i < fillings.size(); ++i) {
    Filling& filling = fillings[i];
    filling.set.source = source_of(order, filling.wanted);
    filling.set.pack = filling.wanted.pack;
    filling.set.has_labels = source->labels() && source->labels()->has_labels;
    filling.set.digest = set_digest(filling.set);
    add_warnings(filling.wanted.name, filling.set);
    if (records[i] && !same_samples(records[i]->set, filling.set)) {
      return fail(ErrorKind::kContract,
                  fmt::format("the data of {} changed since the run began{}", filling.wanted.name,
                              changed_files(records[i]->files, files)),
                  "put the old data back, or start a new run");
    }
  }
  for (std::size_t i = 0; i < fillings.size(); ++i) {
    Filling& filling = fillings[i];
    if (order.splitting == Splitting::kByContent) FIEL_TRY(write_split_source(*source, filling));
    FIEL_TRY(filling.writer.commit());
    FIEL_TRY(write_pack_record({record_key(contract, model, order, filling.wanted), files,
                                filling.writer.bytes(), filling.set}));
    sets.push_back(std::move(filling.set));
  }
  return sets;
}

}  // namespace

std::string sample_digest(const std::map<std::string, Tensor>& inputs) {
  Sha256 digest;
  for (const auto& [name, tensor] : inputs) {
    digest.field(name).field(to_string(tensor.dtype)).field(to_string(tensor.shape));
    digest.update(fmt::format("{}:", tensor.bytes.size())).update(tensor.bytes);
  }
  return digest.hex();
}

double place_by_hash(std::string_view text) {
  const std::string hex = sha256_hex(text).substr(0, 16);
  // The upper 53 bits, so that the quotient is exact and stays below one.
  return std::ldexp(static_cast<double>(std::strtoull(hex.c_str(), nullptr, 16) >> 11), -53);
}

Result<std::vector<SampleSet>> read_folder(const Contract& contract, const OnnxModel& model,
                                           const FolderOrder& order) {
  auto files = list_source_files(order.folder);
  if (!files) return std::unexpected(in_contract(std::move(files).error(), contract, order));
  std::vector<std::optional<PackRecord>> records;
  for (const WantedSet& wanted : order.sets) {
    records.push_back(read_pack_record(wanted.pack));
    if (records.back() && records.back()->key != record_key(contract, model, order, wanted))
      records.back().reset();
  }
  if (auto sets = reuse(order, records, *files)) return std::move(*sets);
  auto sets = read_fresh(contract, model, order, *files, records);
  if (!sets) return std::unexpected(in_contract(std::move(sets).error(), contract, order));
  return sets;
}

}  // namespace fiel
