#include "pool/fleet_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pool/group_watch.h"

namespace fiel {

FleetWorker::~FleetWorker() {
  end();
  const Waiting waiting(fleet_.baton());
  inner_.reset();
}

Answer FleetWorker::call(Json request, double deadline_seconds) {
  begin(std::move(request), deadline_seconds);
  return finish();
}

void FleetWorker::tell(const char* what) { (void)fleet_.ask(place_, {{"type", what}, {"process", process_}}); }

std::optional<Json> FleetWorker::look_there() {
  const auto answer = fleet_.ask(place_, {{"type", "look"}, {"processes", Json::array({process_})}});
  if (!answer) return std::nullopt;
  const Json groups = answer->value("groups", Json::array());
  if (groups.empty()) return Json::object();
  const auto cpu = get_number(groups[0], "cpu_seconds");
  const auto peak = get_int(groups[0], "peak_memory_bytes");
  // A process that is gone used nothing any more.
  usage_.cpu_seconds = std::max(usage_.cpu_seconds, cpu.value_or(0));
  usage_.peak_memory_bytes = std::max(usage_.peak_memory_bytes, peak.value_or(0));
  return groups[0];
}

Answer FleetWorker::finish() {
  Answer answer = fleet_.wait_there(place_, *inner_);
  auto* failure = std::get_if<Failure>(&answer);
  if (failure == nullptr && !place_.lost) return answer;
  if (failure == nullptr) failure = &answer.emplace<Failure>(Fleet::failed(FailureKind::kCrash, "its node was given up"));
  // Its own words for what it can't do, and it lives on.
  if (failure->kind == FailureKind::kCancelled || (inner_->alive() && !place_.lost)) return answer;
  const std::string where = to_string(place_.facts);
  const auto seen = look_there();
  if (!seen) {
    if (!lost_) ++fleet_.here().workers_lost;
    lost_ = true;
    failure->message = fmt::format("lost with its machine ({}): {}", where, failure->message);
  } else if (seen->contains("over_bytes")) {
    failure->kind = FailureKind::kOutOfMemory;
    failure->message = fmt::format("it used {} bytes of memory, above the limit ({})", (*seen)["over_bytes"].get<std::int64_t>(), where);
  } else if (seen->contains("over_processes")) {
    failure->kind = FailureKind::kProtocol;
    failure->message = fmt::format("it started more than {} processes ({})", kMaxProcesses, where);
  } else {
    failure->message += fmt::format(" ({})", where);
  }
  end();
  return answer;
}

}  // namespace fiel
