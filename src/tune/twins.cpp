#include "tune/twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "decide/confirm.h"
#include "decide/race.h"
#include "decide/session.h"
#include "journal/record.h"
#include "stats/e_process.h"
#include "stats/noise.h"
#include "stats/power.h"
#include "stats/spending.h"

namespace fiel {
namespace {

constexpr int kFewestSessions = 3;

// One record of the original again, under the twin's name.
Result<Json> copy_record(Lab& lab, int from, int to, const std::string& what) {
  const auto key = [&](int id) { return what.empty() ? fmt::format("candidate/{}", id) : fmt::format("candidate/{}/{}", id, what); };
  Json body = FIEL_TRY(lab.recorder.journal().body(key(from)));
  body["id"] = to;
  if (what.empty()) body["roles"] = {"twin"};
  return lab.recorder.once(key(to), what.empty() ? "candidate" : what,
                           [&]() -> Result<Record> { return Record{.body = std::move(body)}; });
}

// Would the test of `tune` have called one of the twins faster? Both ways, each with half of the error.
bool has_false_winner(const std::vector<double>& log_ratios, const SpeedTerms& terms) {
  for (const double sign : {1.0, -1.0}) {
    stats::PairTest test((1 - terms.confidence) / 2);
    for (const double ratio : log_ratios) test.add_session(stats::session_is_won(sign * ratio, terms.min_gain));
    if (test.confirmed()) return true;
  }
  return false;
}

std::string say_reasons(const std::map<std::string, int>& reasons) {
  std::string text;
  for (const auto& [reason, rounds] : reasons) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", reason, rounds);
  return text;
}

}  // namespace

Result<int> add_twin(Lab& lab, int id) {
  const int twin = static_cast<int>(lab.by_route.size()) + 1;
  FIEL_TRY(copy_record(lab, id, twin, ""));
  FIEL_TRY(copy_record(lab, id, twin, "build"));
  FIEL_TRY(copy_record(lab, id, twin, "gate"));
  lab.gate_records[twin] = lab.gate_records.at(id);
  lab.by_route[to_string(lab.standing.at(id).route) + " (twin)"] = twin;
  return twin;
}

Result<TwinTimes> time_twins(Lab& lab, int id, double seconds) {
  const int twin = FIEL_TRY(add_twin(lab, id));
  TwinTimes times{.route = to_string(lab.standing.at(id).route), .log_ratios = {}, .why_rejected = {}};
  const double started_at = lab.recorder.live_seconds();
  const auto elapsed = [&] { return lab.recorder.live_seconds() - started_at; };
  while (times.sessions < kFewestSessions || elapsed() + times.seconds_per_session <= seconds) {
    const auto view = FIEL_TRY(run_session(lab, fmt::format("twins/{}", times.sessions + 1), "twins", {id, twin},
                                           [&](Json& body, const SessionView&, std::vector<Live>&) -> Result<> {
      for (const Json& round : body["rounds"]) {
        const std::string why = round.value("rejected", "");
        if (!why.empty()) ++times.why_rejected[why];
      }
      return {};
    }));
    ++times.sessions;
    times.rounds += view.rounds;
    times.rejected_rounds += view.rejected_rounds;
    if (view.entries[1].fallen) {
      return fail(ErrorKind::kDied, "the same artifact failed in a second process: " + view.entries[1].reason,
                  "an artifact that does not run twice can't be timed at all");
    }
    if (view.entries[1].log_ratio) times.log_ratios.push_back(*view.entries[1].log_ratio);
    times.seconds_per_session = elapsed() / times.sessions;
    lab.progress.status(fmt::format("session {}: {:.0f} s of {:.0f} s", times.sessions, elapsed(), seconds));
  }
  return times;
}

NoiseFloor noise_floor(const TwinTimes& times, const SpeedTerms& terms) {
  NoiseFloor floor{.deviation = stats::standard_deviation(times.log_ratios), .distrust = {}};
  if (has_false_winner(times.log_ratios, terms)) {
    floor.distrust.push_back(fmt::format("one of two names of the same artifact was \"proven\" faster by more than {:.3g} %: "
                                         "this noise follows an order of its own",
                                         100 * terms.min_gain));
  }
  if (too_noisy(times.rounds, times.rejected_rounds)) {
    floor.distrust.push_back(fmt::format("{} of {} rounds were rejected: {}", times.rejected_rounds, times.rounds,
                                         say_reasons(times.why_rejected)));
  }
  if (floor.deviation && *floor.deviation > stats::kRestlessSessionDeviation) {
    floor.distrust.push_back(fmt::format("sessions vary by {:.1f} %, more than the {:.0f} % at which a verdict is undecided "
                                         "for noise",
                                         100 * *floor.deviation, 100 * stats::kRestlessSessionDeviation));
  }
  if (!floor.deviation) floor.distrust.push_back("fewer than two sessions had a single round that could be used");
  return floor;
}

Provable provable_in(double seconds, const TwinTimes& times, double deviation, const SpeedTerms& terms) {
  Provable provable{.seconds = seconds, .sessions = 0, .gain = {}};
  if (!(times.seconds_per_session > 0)) return provable;
  provable.sessions =
      std::min<std::int64_t>(kMaxDecidingSessions, static_cast<std::int64_t>(std::min(seconds / times.seconds_per_session, 1e6)));
  provable.gain = stats::smallest_provable_gain({.alpha = stats::nominee_alpha(1 - terms.confidence, 1),
                                                 .sessions = provable.sessions,
                                                 .deviation = deviation,
                                                 .min_gain = terms.min_gain});
  return provable;
}

}  // namespace fiel
