// How quiet the machine was while it was timed, and what the run was bound to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "report/fields.h"
#include "report/html_parts.h"
#include "report/sentences.h"
#include "report/words.h"

namespace fiel {
namespace {

Html facts_table(const Json& facts) {
  Html html;
  if (!facts.is_array() || facts.empty()) return html;
  html = start_table("What the machine said of itself when the run began", {{"fact", ""}, {"value", "words"}, {"mark", ""}, {"what to do", "words"}});
  html.open("tbody");
  for (const Json& fact : facts) {
    html.open("tr").element("th", {{"scope", "row"}}, fields::text(fact, "label"));
    add_cell(html, kWords, fields::text(fact, "value"));
    const std::string mark = fields::text(fact, "mark");
    html.element("td", {{"class", "status " + mark}}, spaced(mark));
    add_cell(html, kWords, fields::text(fact, "advice"));
    html.close("tr").line();
  }
  html.close("tbody");
  end_table(html);
  return html;
}

void add_digest(Html& html, std::string_view name, const std::string& digest) {
  if (!digest.empty()) html.open("div").element("dt", name).open("dd").element("code", digest).close("dd").close("div").line();
}

std::string set_name(const std::string& key) {
  if (key == "holdout") return "Hold-out set";
  return key == "tuning" ? "Tuning set" : key == "calibration" ? "Calibration set" : key;
}

std::string set_words(const Json& set) {
  std::string words = fmt::format("{} samples", fields::integer(set, "n").value_or(0));
  std::string slices;
  for (const auto& [name, count] : fields::count_map(set, "slices")) slices += fmt::format("{}{} {}", slices.empty() ? "" : ", ", name, count);
  return slices.empty() ? words : fmt::format("{} ({})", words, slices);
}

}  // namespace

Html machine_part(const RunView& view) {
  Html html;
  const NoiseView& noise = view.noise;
  if (noise.rounds > 0) {
    const double share = static_cast<double>(noise.rejected_rounds) / static_cast<double>(noise.rounds);
    html.element("p", fmt::format("{} of {} rounds ({}) were rejected since others used the machine, the hypervisor took time or the CPU "
                                  "was throttled: on signals that know no latency.",
                                  format_count(noise.rejected_rounds), format_count(noise.rounds), format_share(share)));
  }
  if (noise.session_deviation) {
    html.element("p", fmt::format("Sessions of one pair vary by {:.2g} % (standard deviation of the log-ratio): what a gain has to stand out "
                                  "from.", 100 * *noise.session_deviation));
  }
  const Json run = fields::parsed(view.run_json);
  return html.add(facts_table(fields::member(fields::member(run, "machine"), "facts")));
}

Html ground_part(const RunView& view) {
  const Json run = fields::parsed(view.run_json);
  Html html;
  if (!run.is_object()) return html;
  html.open("dl", {{"class", "facts"}});
  const Json& model = fields::member(run, "model");
  add_fact(html, "Model", fields::text(model, "path"));
  add_digest(html, "Its digest", fields::text(model, "digest"));
  for (const auto& [name, set] : object_or_empty(run, "data").items()) {
    add_fact(html, set_name(name), set_words(set));
    add_digest(html, "Its digest", fields::text(set, "digest"));
  }
  add_fact(html, "Contract", fields::text(run, "contract_file"));
  add_fact(html, "Claim", spaced(view.claim));
  for (const EngineView& engine : view.engines) {
    add_fact(html, "Engine", fmt::format("{} {} on {}; {}", engine.name, engine.version, fmt::join(engine.devices, ", "),
                                         fmt::join(engine.cpu_features, " ")));
  }
  const Json& machine = fields::member(run, "machine");
  add_fact(html, "Machine", fmt::format("{}, kernel {}", fields::text(machine, "cpu"), fields::text(machine, "kernel")));
  add_fact(html, "Run", fmt::format("{}, seed {}, fiel {}", fields::text(run, "run_id"), fields::integer(run, "seed").value_or(0),
                                    fields::text(run, "fiel_version")));
  return html.close("dl");
}

}  // namespace fiel
