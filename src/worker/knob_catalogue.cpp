#include "worker/knob_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/numbers.h"
#include "contract/toml_library.h"

namespace fiel {
namespace {

std::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  return fail(ErrorKind::kCorrupt, fmt::format("knob catalogue, {}: {}", name, what));
}

Result<std::vector<std::string>> strings(const toml::node& node, std::string_view key) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong(key, "not a list of strings");
  std::vector<std::string> list;
  for (const toml::node& item : *array) {
    const auto text = item.value<std::string>();
    if (!text) return wrong(key, "not a list of strings");
    list.push_back(*text);
  }
  return list;
}

Result<std::vector<Condition>> conditions(const toml::node& node) {
  std::vector<Condition> list;
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong("only_if", "not a list of tables");
  for (const toml::node& item : *array) {
    const toml::table* table = item.as_table();
    if (table == nullptr || !table->contains("knob") || !table->contains("values")) {
      return wrong("only_if", "an entry needs knob and values");
    }
    list.push_back({.knob = (*table)["knob"].value_or(std::string()),
                    .values = FIEL_TRY(strings(*table->get("values"), "only_if"))});
  }
  return list;
}

Result<> read_key(CatalogueKnob& entry, std::string_view key, const toml::node& node) {
  const auto text = node.value<std::string>();
  const auto flag = node.value<bool>();
  if (key == "name" && text)
    entry.knob.name = *text;
  else if (key == "help" && text)
    entry.knob.help = *text;
  else if (key == "default" && text)
    entry.knob.default_value = *text;
  else if (key == "unset" && text)
    entry.unset = *text;
  else if (key == "readback" && text)
    entry.readback = *text;
  else if (key == "unadvertised" && flag)
    entry.unadvertised = *flag;
  else if (key == "always" && flag)
    entry.always = *flag;
  else if (key == "values")
    entry.knob.values = FIEL_TRY(strings(node, key));
  else if (key == "delegates")
    entry.delegates = FIEL_TRY(strings(node, key));
  else if (key == "needs")
    entry.needs = FIEL_TRY(strings(node, key));
  else if (key == "only_if")
    entry.knob.only_if = FIEL_TRY(conditions(node));
  else if (key == "kind" && text && parse_knob_kind(*text))
    entry.knob.kind = *parse_knob_kind(*text);
  else if (key == "value_needs" && node.is_table()) {
    for (const auto& [value, needs] : *node.as_table()) {
      entry.value_needs.emplace(value.str(), FIEL_TRY(strings(needs, key)));
    }
  } else {
    return wrong(key, "not a key of a knob, or of another type");
  }
  return {};
}

Result<CatalogueKnob> read_knob(const toml::table& table) {
  CatalogueKnob entry;
  entry.readback = "engine";
  for (const auto& [key, node] : table) FIEL_TRY(read_key(entry, key.str(), node));
  const std::string& name = entry.knob.name;
  if (name.empty() || entry.knob.help.empty() || entry.knob.values.empty()) {
    return wrong(name, "name, values and help are needed");
  }
  const bool known_default =
      std::ranges::find(entry.knob.values, entry.knob.default_value) != entry.knob.values.end();
  if (!entry.knob.default_value.empty() && !known_default)
    return wrong(name, "its default is none of its values");
  if (entry.knob.default_value.empty() &&
      (entry.knob.kind != KnobKind::kProperty || entry.unadvertised)) {
    return wrong(name, "the engine cannot be asked for its default, so it must be given");
  }
  return entry;
}

// "@cores" stands for 1, 2, 4, ... and the number of cores itself.
std::vector<std::string> expand(const std::vector<std::string>& values, int core_count) {
  std::vector<std::string> expanded;
  const auto add = [&](std::string value) {
    if (std::ranges::find(expanded, value) == expanded.end()) expanded.push_back(std::move(value));
  };
  for (const std::string& value : values) {
    if (value != "@cores") {
      add(value);
      continue;
    }
    for (int count = 1; count < core_count; count *= 2) add(std::to_string(count));
    add(std::to_string(core_count));
  }
  return expanded;
}

const std::string* unmet(const std::vector<std::string>& needs, const MachineFacts& machine) {
  const auto found =
      std::ranges::find_if(needs, [&](const std::string& need) { return !machine.holds(need); });
  return found == needs.end() ? nullptr : &*found;
}

}  // namespace

Result<std::vector<CatalogueKnob>> parse_catalogue(std::string_view text) {
  const auto parsed = parse_toml_text(text, "knob catalogue");
  if (!parsed) return fail(ErrorKind::kCorrupt, parsed.error().message);
  const toml::table& document = *parsed;
  std::vector<CatalogueKnob> catalogue;
  const toml::array* knobs = document["knob"].as_array();
  if (knobs == nullptr || document.size() != 1)
    return wrong("file", "it has something else than [[knob]]");
  for (const toml::node& node : *knobs) {
    if (!node.is_table()) return wrong("file", "it has something else than [[knob]]");
    CatalogueKnob entry = FIEL_TRY(read_knob(*node.as_table()));
    if (find_knob(catalogue, entry.knob.name) != nullptr)
      return wrong(entry.knob.name, "it is there twice");
    catalogue.push_back(std::move(entry));
  }
  return catalogue;
}

const CatalogueKnob* find_knob(const std::vector<CatalogueKnob>& catalogue, std::string_view name) {
  const auto found = std::ranges::find_if(
      catalogue, [&](const CatalogueKnob& one) { return one.knob.name == name; });
  return found == catalogue.end() ? nullptr : &*found;
}

KnobOffer offer_knobs(const std::vector<CatalogueKnob>& catalogue, const MachineFacts& machine,
                      const std::map<std::string, std::string>& engine_defaults) {
  KnobOffer offer;
  for (const CatalogueKnob& entry : catalogue) {
    Knob knob = entry.knob;
    const auto leave_out = [&](std::string why) {
      offer.left_out.push_back({knob.name, std::move(why)});
    };
    const auto known = engine_defaults.find(knob.name);
    if (knob.kind == KnobKind::kProperty && !entry.unadvertised && known == engine_defaults.end()) {
      leave_out("this version of the engine does not know it");
      continue;
    }
    if (const std::string* need = unmet(entry.needs, machine); need != nullptr && !entry.always) {
      leave_out(fmt::format("it has no effect here, where there is no {}", *need));
      continue;
    }
    if (knob.default_value.empty()) knob.default_value = known->second;
    knob.values = expand(knob.values, machine.core_count);
    std::string lacking;
    std::erase_if(knob.values, [&](const std::string& value) {
      const auto needs = entry.value_needs.find(value);
      const std::string* need =
          needs == entry.value_needs.end() ? nullptr : unmet(needs->second, machine);
      if (need == nullptr || value == knob.default_value) return false;
      lacking += fmt::format("{}{} needs {}", lacking.empty() ? "" : ", ", value, *need);
      return true;
    });
    if (std::ranges::find(knob.values, knob.default_value) == knob.values.end()) {
      knob.values.insert(knob.values.begin(), knob.default_value);
    }
    if (knob.values.size() == 1 && !entry.always) {
      leave_out(fmt::format("only its default would be left here ({})",
                            lacking.empty() ? "one core" : lacking));
      continue;
    }
    offer.knobs.push_back(std::move(knob));
  }
  // A condition on a knob that is not offered holds or fails by that knob's default: nobody can
  // turn it.
  for (Knob& knob : offer.knobs) {
    std::erase_if(knob.only_if, [&](const Condition& condition) {
      return std::ranges::find(offer.knobs, condition.knob, &Knob::name) == offer.knobs.end();
    });
  }
  return offer;
}

namespace {

// "0.80" and "0.8" are one value.
bool same_value(const std::string& asked, const std::string& got) {
  if (asked == got) return true;
  const auto a = number_from<double>(asked), b = number_from<double>(got);
  return a && b && std::abs(*a - *b) < 1e-6;
}

}  // namespace

std::vector<std::string> ignored_settings(const std::map<std::string, std::string>& asked,
                                          const std::map<std::string, std::string>& effective,
                                          const std::vector<CatalogueKnob>& catalogue) {
  std::vector<std::string> ignored;
  for (const auto& [name, value] : asked) {
    const CatalogueKnob* entry = find_knob(catalogue, name);
    const auto got = effective.find(name);
    if (got == effective.end() || (entry != nullptr && entry->readback != "engine")) continue;
    if (entry != nullptr && (value == entry->unset || std::ranges::find(entry->delegates, value) !=
                                                          entry->delegates.end())) {
      continue;
    }
    if (name == "shape" && value == "dynamic")
      continue;  // a model without dynamic axes is no disobedience
    if (!same_value(value, got->second))
      ignored.push_back(fmt::format("{}={} ran as {}", name, value, got->second));
  }
  return ignored;
}

void add_to(Json& hello, const KnobOffer& offer) {
  Json& knobs = hello["knobs"] = Json::array();
  for (const Knob& knob : offer.knobs) {
    Json json = {{"name", knob.name},
                 {"kind", to_string(knob.kind)},
                 {"values", knob.values},
                 {"default", knob.default_value},
                 {"help", knob.help}};
    for (const Condition& condition : knob.only_if) {
      json["only_if"].push_back({{"knob", condition.knob}, {"values", condition.values}});
    }
    knobs.push_back(std::move(json));
  }
  Json& left_out = hello["left_out"] = Json::array();
  for (const auto& [name, why] : offer.left_out) left_out.push_back({{"name", name}, {"why", why}});
}

}  // namespace fiel
