#include "decide/variant_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "journal/record.h"

namespace fiel {

std::string variant_key(const std::string& name) { return "variant/" + name; }

Result<> record_variant(Lab& lab, const std::string& name, const std::string& digest, Json more) {
  const Json known = FIEL_TRY(lab.recorder.once(variant_key(name), "variant", [&]() -> Result<Record> {
    const std::string place = (lab.folder / "variants" / name).string();  // a program's folder, or one file and its data
    const std::int64_t bytes = bytes_on_disk(place) + bytes_on_disk(place + ".onnx") + bytes_on_disk(place + ".onnx.data");
    Json body = {{"variant", name}, {"digest", digest}, {"bytes", bytes}};
    body.update(more);
    return Record{.body = std::move(body)};
  }));
  if (known["digest"] == digest) return {};
  return fail(ErrorKind::kCorrupt, fmt::format("the variant {} does not come out as it did when this run began", name),
              "start a new run");
}

Failure variant_failure(FailureKind kind, std::string message, std::string log_tail) {
  return {.kind = kind, .message = std::move(message), .phase = "variant", .log_tail = std::move(log_tail), .exit_status = {}, .signal = {}};
}

}  // namespace fiel
