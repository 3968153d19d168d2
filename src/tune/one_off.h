// A workshop for one question (check, bench, verify, a dry run): in a temporary folder, with a journal of its own. All of it
// goes when the answer is there.
#pragma once

#include "base/files.h"
#include "tune/workshop.h"

namespace fiel {

struct OneOffPlan {
  std::uint64_t seed = 1;
  ProgressSink& progress;
  int cancel_fd = -1;
};

class OneOff {
 public:
  /// Without a look at the hold-out.
  static Result<OneOff> create(Contract contract, const OneOffPlan& plan);

  Lab& lab() { return workshop_->lab(); }
  const Ground& ground() const { return workshop_->ground(); }

 private:
  friend struct OneOffWithHoldout;
  OneOff(TempFolder folder, std::unique_ptr<Workshop> workshop)
      : folder_(std::move(folder)), workshop_(std::move(workshop)) {}
  static Result<OneOff> open(TempFolder folder, Ground ground, const OneOffPlan& plan);

  TempFolder folder_;
  std::unique_ptr<Workshop> workshop_;  // goes before its folder does
};

struct OneOffWithHoldout {
  OneOff one;
  HoldoutSet holdout;

  static Result<OneOffWithHoldout> create(Contract contract, const OneOffPlan& plan);
};

}  // namespace fiel
