// [model] and [data]: what is tuned, and with which samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "contract/sections.h"

namespace fiel {
namespace {

constexpr std::int64_t kMaxDimension = std::int64_t{1} << 40;

bool is_list(const TomlValue* value) {
  return value != nullptr && std::holds_alternative<TomlArray>(value->data);
}

TrafficShape read_shape(TableReader& table) {
  TrafficShape shape;
  for (const std::string& key : table.keys()) {
    // A model may well have an input named "weight"; its shape is a list, so the two cannot be
    // confused.
    if (key == "weight" && !is_list(table.value(key))) {
      const auto weight = table.number(key, "a number above zero",
                                       [](double x) { return x > 0 && std::isfinite(x); });
      shape.weight = weight.value_or(1.0);
      continue;
    }
    const auto dims = table.integers(key, 1, kMaxDimension);
    if (!dims) continue;
    if (!element_count(*dims))
      table.problem(key, fmt::format("the shape {} is too large", to_string(*dims)));
    shape.inputs[key] = *dims;
  }
  if (table.keys().empty() ||
      (table.keys() == std::vector<std::string>{"weight"} && shape.inputs.empty())) {
    table.problem("", "names no input: write INPUT = [1, 3, 224, 224]");
  }
  return shape;
}

void read_shapes(TableReader& model, Contract& contract) {
  std::set<std::map<std::string, Shape>> seen;
  for (TableReader& table : model.tables("shape")) {
    TrafficShape shape = read_shape(table);
    if (!seen.insert(shape.inputs).second)
      table.problem("", "is there twice: add the two weights up in one");
    if (!contract.shapes.empty()) {
      for (const auto& [name, dims] : contract.shapes.front().inputs) {
        if (!shape.inputs.contains(name) && !table.has(name)) {
          table.problem(
              "",
              fmt::format(
                  "does not give '{}', but the first [[model.shape]] does: give it in all or none",
                  name));
        }
      }
      for (const auto& [name, dims] : shape.inputs) {
        if (!contract.shapes.front().inputs.contains(name)) {
          table.problem(name, "is not in the first [[model.shape]]: give it in all or none");
        }
      }
    }
    contract.shapes.push_back(std::move(shape));
  }
}

void read_ranges(TableReader& model, Contract& contract) {
  auto inputs = model.table("input");
  if (!inputs) return;
  for (auto& [name, table] : inputs->named_tables()) {
    table.require("range", "write range = [0, 30521]");
    const auto range = table.integers("range", INT64_MIN, INT64_MAX);
    if (range && (range->size() != 2 || (*range)[0] > (*range)[1])) {
      table.problem("range",
                    "wants two whole numbers, the smallest and the largest value, in this order");
    } else if (range) {
      contract.input_ranges[name] = {(*range)[0], (*range)[1]};
    }
    table.finish();
  }
}

void read_state(TableReader& model, Contract& contract) {
  std::set<std::string> inputs;
  for (TableReader& table : model.tables("state")) {
    table.require("output", "the output that feeds the next step");
    table.require("input", "the input that it feeds");
    const auto output = table.text("output");
    const auto input = table.text("input");
    if (input && !inputs.insert(*input).second) {
      table.problem("input",
                    fmt::format("'{}' is fed by two states: only one output can feed it", *input));
    }
    contract.state.push_back({output.value_or(""), input.value_or("")});
    table.finish();
  }
}

}  // namespace

void read_model(TableReader& table, const SectionContext& context, Contract& contract) {
  table.require("path", "path = \"model.onnx\"");
  contract.model = context.file(table, "path");
  read_shapes(table, contract);
  read_ranges(table, contract);
  read_state(table, contract);
}

void read_data(TableReader& table, const SectionContext& context, Contract& contract) {
  contract.data = context.directory(table, "samples");
  contract.calibration = context.directory(table, "calibration");
  contract.tuning = context.directory(table, "tuning");
  contract.holdout = context.directory(table, "holdout");
  if (table.has("samples")) {
    for (const std::string_view set : {"calibration", "tuning", "holdout"}) {
      if (table.has(set)) {
        table.problem(
            set,
            "contradicts data.samples: give one folder that fiel splits, or the sets, not both");
      }
    }
    return;
  }
  table.require(
      "tuning",
      "the samples that steer the search (or samples = \"folder\": fiel splits one folder)");
  table.require("holdout", "the samples that prove the winner, kept apart from tuning");
  const std::pair<std::string_view, const std::filesystem::path*> sets[] = {
      {"calibration", &contract.calibration},
      {"tuning", &contract.tuning},
      {"holdout", &contract.holdout}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (!sets[i].second->empty() && *sets[i].second == *sets[j].second) {
        table.problem(
            sets[j].first,
            fmt::format("is the folder of data.{} too: the sets must be disjoint", sets[i].first));
      }
    }
  }
}

}  // namespace fiel
