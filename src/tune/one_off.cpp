#include "tune/one_off.h"

namespace fiel {

Result<OneOff> OneOff::open(TempFolder folder, Ground ground, const OneOffPlan& plan) {
  auto workshop =
      FIEL_TRY(Workshop::create(std::move(ground), FIEL_TRY(Journal::create(folder.path() / "run.db")), folder.path(),
                                plan.seed, plan.progress, plan.cancel_fd));
  return OneOff(std::move(folder), std::move(workshop));
}

Result<OneOff> OneOff::create(Contract contract, const OneOffPlan& plan) {
  auto folder = FIEL_TRY(TempFolder::create({}, "fiel-"));
  Ground ground = FIEL_TRY(lay_ground(std::move(contract), folder.path() / "data", plan.progress));
  return open(std::move(folder), std::move(ground), plan);
}

Result<OneOffWithHoldout> OneOffWithHoldout::create(Contract contract, const OneOffPlan& plan) {
  auto folder = FIEL_TRY(TempFolder::create({}, "fiel-"));
  TuneGround all = FIEL_TRY(lay_tune_ground(std::move(contract), folder.path() / "data", plan.progress));
  auto one = FIEL_TRY(OneOff::open(std::move(folder), std::move(all.ground), plan));
  return OneOffWithHoldout{.one = std::move(one), .holdout = std::move(all.holdout)};
}

}  // namespace fiel
