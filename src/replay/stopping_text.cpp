#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "replay/stopping.h"

namespace fiel {
namespace {

// 3.2 e6 -> "3.2e+06"; 0 stays "0".
std::string count(double value) { return fmt::format("{:.2g}", value); }

double over(double a, double b) { return b > 0 ? a / b - 1 : 0.0; }

}  // namespace

std::string stopping_text(const StoppingSummary& summary) {
  std::string text = fmt::format("{}, {}, {} repeats{}: an execution of the median configuration taken as 10 ms, a mean trial as 5 s\n",
                                 summary.space, summary.strategy, summary.repeats,
                                 summary.spread > 1 ? fmt::format(", costs spread {:.0f} times", summary.spread) : "");
  text += "executions  stops after  best fixed        bill  over best  regret over best\n";
  for (const BreakEvenAt& at : summary.break_even) {
    text += fmt::format("{:>10}  {:>11.1f}  {:>10.0f}  {:>10}  {:>8.2f}%  {:>15.0f}%\n", count(at.executions), at.stop_trials, at.best_fixed_trials,
                        format_duration(at.bill), 100 * over(at.bill, at.best_fixed_bill), 100 * over(at.regret, at.best_fixed_regret));
  }
  const PlateauAt& plateau = summary.plateau;
  text += fmt::format("no plan: stops after {:.1f} of {:.0f} trials, {:.2f} % from the optimum (p95 {:.2f} %; after all {:.2f} %)\n", plateau.stop_trials,
                      plateau.all_trials, 100 * plateau.regret, 100 * plateau.regret_p95, 100 * plateau.regret_of_all);
  return text;
}

Json stopping_json(const StoppingSummary& summary) {
  Json rows = Json::array();
  for (const BreakEvenAt& at : summary.break_even) {
    rows.push_back({{"executions", at.executions},
                    {"stop_trials", at.stop_trials},
                    {"best_fixed_trials", at.best_fixed_trials},
                    {"bill_seconds", at.bill},
                    {"best_fixed_bill_seconds", at.best_fixed_bill},
                    {"regret_seconds", at.regret},
                    {"best_fixed_regret_seconds", at.best_fixed_regret},
                    {"fixed_bills_seconds", at.fixed_bills}});
  }
  return {{"format", 1},
          {"space", summary.space},
          {"strategy", summary.strategy},
          {"repeats", summary.repeats},
          {"spread", summary.spread},
          {"break_even", rows},
          {"plateau",
           {{"stop_trials", summary.plateau.stop_trials},
            {"all_trials", summary.plateau.all_trials},
            {"regret", summary.plateau.regret},
            {"regret_p95", summary.plateau.regret_p95},
            {"regret_of_all", summary.plateau.regret_of_all}}}};
}

}  // namespace fiel
