// [[variant]]: ready model files, or programs that make them, that race beside fiel's own variants.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "contract/sections.h"

namespace fiel {
namespace {

// Names that variants of fiel's own have, or may get.
bool is_taken(std::string_view name) {
  return name == "float32" || name == "fp16" || name == "bf16" || name.starts_with("int8") || name.ends_with("_int8");
}

// Also the name of its folder in the run's: ".." would be the run's own.
bool is_word(std::string_view name) {
  return !name.starts_with('.') && std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; });
}

void read_program(TableReader& table, const SectionContext& context, VariantFile& file) {
  if (table.has("model")) table.problem("program", "is there beside a model: a variant is a ready file, or what a program makes");
  auto words = table.texts("program");
  if (words && words->empty()) table.problem("program", "is empty: write [\"python3\", \"quantise.py\"]");
  if (words && !words->empty()) file.program = context.program(table, "program", std::move(*words));
  file.confine = table.boolean("confine").value_or(true);
  file.timeout_seconds = table.seconds("timeout").value_or(file.timeout_seconds);
}

}  // namespace

void read_variants(TableReader& top, const SectionContext& context, Contract& contract) {
  std::set<std::string> seen;
  for (TableReader& table : top.tables("variant")) {
    table.require("name", "name = \"nncf\", a value for the knob `variant`");
    if (!table.has("program")) table.require("model", "model = \"nncf.onnx\", a file that an engine can read");
    VariantFile file{.name = table.text("name").value_or(""), .model = context.file(table, "model")};
    if (table.has("program")) read_program(table, context, file);
    if (!is_word(file.name)) {
      table.problem("name", fmt::format("'{}' is no value of a knob: letters, digits, _ - and, not in front, .", file.name));
    } else if (is_taken(file.name)) {
      table.problem("name", fmt::format("'{}' is a name of fiel's own variants: take another", file.name));
    } else if (!file.name.empty() && !seen.insert(file.name).second) {
      table.problem("name", fmt::format("'{}' is there twice", file.name));
    }
    table.finish();
    contract.variants.push_back(std::move(file));
  }
}

}  // namespace fiel
