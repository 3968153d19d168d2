// How often has this hold-out been opened, over all runs of this user? Each opening spends a part of the error budget
// (stats/spending.h), so that trying again and again on one hold-out proves nothing. The ledger is the only maker of an
// Opening, and without one a HoldoutSet shows no sample.
//
// Lives in the user's state folder ($FIEL_STATE_DIR, else $XDG_STATE_HOME/fiel, else ~/.local/state/fiel).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "contract/dataset.h"

namespace fiel {

class Ledger {
 public:
  static Result<Ledger> open(const std::filesystem::path& folder);
  static std::filesystem::path default_folder();

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  /// Number of openings recorded for this hold-out.
  Result<int> openings(const HoldoutSet& holdout) const;

  /// Records an opening durably, then gives it. The same run and nominee get the same opening again (after a kill
  /// between the record and the verdict): nothing was seen in between, and nothing more is spent.
  Result<Opening> open_holdout(const HoldoutSet& holdout, std::string_view run, std::string_view nominee);

 private:
  struct Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fiel
