#include "decide/places.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

constexpr int kMostTimes = 3;
constexpr int kMostRefused = 3;

Failure stop(Lab& lab, Failure failure, std::string hint) {
  if (failure.kind != FailureKind::kCancelled) {
    lab.broken = Error{ErrorKind::kEnvironment, failure.message, std::move(hint)};
  }
  return failure;
}

Json place_json(const Place& place) {
  return {{"number", place.number}, {"node", place.facts.node}, {"job", place.facts.job}};
}

// What is different there, in words; empty: nothing that counts.
std::string how_it_differs(const HelloResult& hello, const EngineHere& engine) {
  if (hello.version != engine.hello.version) {
    return fmt::format("has {} {}, and this run began with {}", engine.target.name, hello.version, engine.hello.version);
  }
  if (hello.cpu_features == engine.hello.cpu_features) return {};
  return fmt::format("has other CPU features for {} than this run began with", engine.target.name);
}

}  // namespace

Crew::End Attempts::one(Lab& lab, const Work& work) {
  if (lab.fleet == nullptr) {
    made = work();
    return Crew::End::kDone;
  }
  const int lost_before = lab.fleet->workers_lost();
  const Place* const began_on = lab.fleet->latest();
  const auto faith_before = lab.faith;
  made = work();
  const Place* here = lab.fleet->latest();
  const bool lost = lab.fleet->workers_lost() > lost_before;
  const bool stopped = lab.broken || (!*made && made->error().kind == ErrorKind::kCancelled);
  if (lost && !stopped) {
    const Place* const gone = began_on != nullptr && began_on->lost ? began_on : here;
    if (gone != nullptr) {
      lost_.push_back(gone);
      lab.progress.warn(fmt::format("{} was lost; what ran there is done again", to_string(gone->facts)));
    }
    if (++times_lost_ < kMostTimes) {
      lab.faith = faith_before;
      made.reset();
      return Crew::End::kAgain;
    }
  }
  if (!*made) return Crew::End::kDone;
  Json& body = (*made)->body;
  if (here != nullptr) body["place"] = place_json(*here);
  for (const Place* gone : lost_) body["lost_on"].push_back(place_json(*gone));
  return Crew::End::kDone;
}

Result<Record> made_on_one_machine(Lab& lab, std::string_view key, const Work& work) {
  if (auto ahead = lab.made_ahead.extract(std::string(key))) return std::move(ahead.mapped());
  if (lab.fleet == nullptr && lab.crew == nullptr) return work();
  Attempts attempts;
  const auto try_it = [&] { return attempts.one(lab, work); };
  if (lab.crew == nullptr || !lab.crew->is_owner()) {
    while (try_it() == Crew::End::kAgain) continue;
  } else {
    lab.crew->run(try_it);
  }
  return *std::move(attempts.made);
}

Ahead::~Ahead() {
  if (lab_.crew != nullptr) lab_.crew->clear();
  lab_.made_ahead.clear();
}

void Ahead::begin(const std::string& key, Work work) {
  if (lab_.crew == nullptr || lab_.recorder.recorded(key)) return;
  const auto [piece, is_new] = pieces_.try_emplace(key);
  if (!is_new) return;
  piece->second.ticket = lab_.crew->begin([this, &attempts = piece->second.attempts, work = std::move(work)] {
    return attempts.one(lab_, work);
  });
}

void Ahead::take(const std::string& key) {
  const auto piece = pieces_.find(key);
  if (piece == pieces_.end()) return;
  lab_.crew->wait(piece->second.ticket);
  lab_.made_ahead.insert_or_assign(key, *std::move(piece->second.attempts.made));
  pieces_.erase(piece);
}

Result<Json> once_on_one_machine(Lab& lab, std::string_view key, std::string_view type, const Work& work) {
  return lab.recorder.once(key, type, [&] { return made_on_one_machine(lab, key, work); });
}

Outcome<std::unique_ptr<Worker>> settled(Lab& lab, const EngineHere& engine, Outcome<std::unique_ptr<Worker>> started) {
  if (auto* failure = std::get_if<Failure>(&started)) {
    if (failure->phase != Fleet::kLaunch) return started;
    return stop(lab, std::move(*failure), "logs/ in the run folder has the launcher's words; `fiel resume` goes on when there is a machine again");
  }
  const Place* here = lab.fleet->latest();
  if (here == nullptr || engine.hello.version.empty()) return started;
  if (!lab.greeted.insert({here->number, engine.target.name}).second) return started;
  auto answer = request_hello(*std::get<std::unique_ptr<Worker>>(started), deadlines_for(lab.contract).hello);
  if (auto* failure = std::get_if<Failure>(&answer)) {
    lab.greeted.erase({here->number, engine.target.name});
    return std::move(*failure);
  }
  const std::string difference = how_it_differs(std::get<HelloResult>(answer), engine);
  if (difference.empty()) return started;
  Failure failure{.kind = FailureKind::kEnvironment,
                  .message = fmt::format("{} {}", to_string(here->facts), difference),
                  .phase = std::string(Fleet::kLaunch), .log_tail = {}, .exit_status = {}, .signal = {}};
  lab.fleet->refuse(difference);
  if (++lab.machines_refused < kMostRefused) return failure;
  return stop(lab, std::move(failure),
              "its timings would not be comparable: have the launcher ask for one kind of machine (srun --constraint=...)");
}

}  // namespace fiel
