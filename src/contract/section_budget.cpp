// [budget]: what a run may spend, as a whole and phase by phase, and what its winner is to earn.
#include <cmath>

#include "contract/sections.h"

namespace fiel {
namespace {

bool is_price(double x) { return x >= 0 && std::isfinite(x); }

}  // namespace

void read_budget(TableReader& table, Contract& contract) {
  Budget& budget = contract.budget;
  budget.wall_seconds = table.seconds("wall").value_or(budget.wall_seconds);
  budget.candidates = table.integer("candidates", 1, INT64_MAX);
  budget.disk_bytes = table.bytes("disk");
  if (auto phases = table.table("phases")) {
    budget.phases = {.search_seconds = phases->seconds("search"),
                     .gate_seconds = phases->seconds("gate"),
                     .race_seconds = phases->seconds("race"),
                     .proof_seconds = phases->seconds("proof")};
    phases->finish();
  }
  budget.executions = table.integer("executions", 1, INT64_MAX);
  budget.serving_cost_per_hour = table.number("serving_cost_per_hour", "a price of at least 0", is_price);
  budget.tuning_cost_per_hour = table.number("tuning_cost_per_hour", "a price of at least 0", is_price);
  const bool serving = table.has("serving_cost_per_hour");
  if (serving != table.has("tuning_cost_per_hour")) {
    table.problem(serving ? "serving_cost_per_hour" : "tuning_cost_per_hour",
                  "has no counterpart: break-even needs both serving_cost_per_hour and tuning_cost_per_hour");
  }
}

}  // namespace fiel
