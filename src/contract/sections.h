// The sections of a contract, one function each, private to contract/. A section reads its table,
// notes what is wrong, and fills its part of the contract with what is right.
#pragma once

#include "contract/contract.h"
#include "contract/table_reader.h"

namespace fiel {

/// Whether what a contract names must be there. kLater: texts that are made up or read again in a
/// run folder.
enum class Existence { kNow, kLater };

struct SectionContext {
  std::filesystem::path folder;  // the contract's: relative paths start here
  Existence existence = Existence::kNow;

  std::filesystem::path resolve(const std::string& path) const;
  /// The path under `key`, absolute; noted when it must exist and is no file (or no folder).
  std::filesystem::path file(TableReader& table, std::string_view key) const;
  std::filesystem::path directory(TableReader& table, std::string_view key) const;
  /// Words that name a file beside the contract become absolute; a script that is not there is
  /// noted under `key`.
  std::vector<std::string> program(TableReader& table, std::string_view key,
                                   std::vector<std::string> words) const;
};

void read_model(TableReader& table, const SectionContext& context, Contract& contract);
void read_data(TableReader& table, const SectionContext& context, Contract& contract);
void read_variants(TableReader& top, const SectionContext& context, Contract& contract);
void read_target(TableReader& table, Contract& contract);
void read_engines(TableReader& table, const SectionContext& context, Contract& contract);
/// After both: an engine that is not ours needs a worker.
void check_engine_names(TableReader& top, const Contract& contract);
EngineTarget default_engine();
void read_fleet(TableReader& table, const SectionContext& context, Contract& contract);
void read_workload(TableReader& table, Contract& contract);
void read_limits(TableReader& table, Contract& contract);
void read_speed(TableReader& table, Contract& contract);
void read_accuracy(TableReader& table, const SectionContext& context, Contract& contract);
void read_budget(TableReader& table, Contract& contract);

}  // namespace fiel
