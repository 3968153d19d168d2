// The pack file of a set and the record beside it. Knows bytes and offsets, not where samples come
// from.
//
//   NAME.pack       raw little-endian tensors in C order, each 64-byte aligned, in the order of
//   samples and input names NAME.pack.json  what lies where, and of which files it was made
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "contract/dataset.h"
#include "contract/sample_source.h"

namespace fiel {

/// Writes under another name; nothing is seen at `path` before commit().
class PackWriter {
 public:
  static Result<PackWriter> create(const std::filesystem::path& path);
  PackWriter(PackWriter&&) = default;
  PackWriter& operator=(PackWriter&&) = delete;
  ~PackWriter();

  Result<PackedTensor> add(const Tensor& tensor);
  Result<> commit();            // durable
  Result<> commit_unsynced();   // after a power failure its bytes may be others: for whoever keeps a digest of them
  std::int64_t bytes() const { return bytes_; }

 private:
  PackWriter(std::filesystem::path path, std::filesystem::path temporary, Fd file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}
  Result<> write(const std::byte* data, std::size_t size);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd file_;
  std::int64_t bytes_ = 0;
};

struct PackRecord {
  std::string key;  // digest of all but the data that the set depends on
  std::vector<SourceFile> files;
  std::int64_t pack_bytes = 0;
  SampleSet set;  // without its source: a run folder may be moved
};

Result<> write_pack_record(const PackRecord& record);
/// nullopt when there is no pack, or one that a reader of this version cannot use.
std::optional<PackRecord> read_pack_record(const std::filesystem::path& pack);
/// Where the record of a pack lies.
std::filesystem::path pack_record_path(const std::filesystem::path& pack);

}  // namespace fiel
