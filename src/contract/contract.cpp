#include "contract/contract.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "contract/sections.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kContractFormat = 1;

using Section = void (*)(TableReader&, const SectionContext&, Contract&);

template <void (*kRead)(TableReader&, Contract&)>
void without_context(TableReader& table, const SectionContext&, Contract& contract) {
  kRead(table, contract);
}

struct NamedSection {
  std::string_view key;
  Section read;
  std::string_view hint;  // what to write where it is required; empty: it may be left out
};

// In this order: the workload is known before the limits that must fit it, the target's engines
// before their tables.
constexpr NamedSection kSections[] = {
    {"model", read_model, "[model] with path = \"model.onnx\""},
    {"data", read_data, "[data] with tuning and holdout, or with samples = \"folder\""},
    {"target", without_context<read_target>, ""},
    {"engines", read_engines, ""},
    {"fleet", read_fleet, ""},
    {"workload", without_context<read_workload>, ""},
    {"limits", without_context<read_limits>, ""},
    {"speed", without_context<read_speed>, ""},
    {"accuracy", read_accuracy,
     "[accuracy] with at least one [[accuracy.task]]: that is what decides"},
    {"budget", without_context<read_budget>, ""},
};

void read_sections(TableReader& top, const SectionContext& context, Contract& contract) {
  top.require("fiel", "write fiel = 1 at the top, the format of this contract");
  if (const TomlValue* format = top.value("fiel")) {
    const auto* number = std::get_if<std::int64_t>(&format->data);
    if (number == nullptr || *number != kContractFormat) {
      top.problem("fiel", fmt::format("wants 1, the only format that this fiel reads; found {}",
                                      describe(*format)));
    }
  }
  for (const NamedSection& section : kSections) {
    if (!section.hint.empty()) top.require(section.key, section.hint);
    if (auto table = top.table(section.key)) {
      section.read(*table, context, contract);
      table->finish();
    }
  }
  read_variants(top, context, contract);
  if (contract.engines.empty()) contract.engines.push_back(default_engine());
  check_engine_names(top, contract);
  top.finish();
}

Result<Contract> parse(std::string text, const fs::path& file, Existence existence) {
  Contract contract;
  std::error_code code;
  contract.file = fs::absolute(file, code).lexically_normal();
  contract.shown_file = file.string();
  contract.text = std::move(text);
  const TomlTable table = FIEL_TRY(parse_toml(contract.text, file.string()));
  Problems problems(file.string());
  TableReader top(table, {}, problems, contract.lines);
  read_sections(top, {contract.file.parent_path(), existence}, contract);
  FIEL_TRY(problems.result());
  return contract;
}

}  // namespace

std::string Contract::place(std::string_view key) const {
  const auto line = lines.find(std::string(key));
  const std::string where = line == lines.end() ? std::string() : fmt::format(":{}", line->second);
  return fmt::format("{}{}: {}", shown_file.empty() ? "contract" : shown_file, where,
                     shown_key(key));
}

fs::path SectionContext::resolve(const std::string& path) const {
  return (folder / path).lexically_normal();
}

fs::path SectionContext::file(TableReader& table, std::string_view key) const {
  const auto text = table.text(key);
  if (!text) return {};
  const fs::path path = resolve(*text);
  std::error_code code;
  if (existence == Existence::kNow && !fs::is_regular_file(path, code)) {
    table.problem(key,
                  fmt::format("there is no file {}: relative paths start at the contract's folder",
                              path.string()));
  }
  return path;
}

fs::path SectionContext::directory(TableReader& table, std::string_view key) const {
  const auto text = table.text(key);
  if (!text) return {};
  fs::path path = resolve(*text);
  if (!path.has_filename()) path = path.parent_path();  // "data/tuning/" is the same folder
  std::error_code code;
  if (existence == Existence::kNow && !fs::is_directory(path, code)) {
    table.problem(
        key, fmt::format("there is no folder {}: relative paths start at the contract's folder",
                         path.string()));
  }
  return path;
}

std::vector<std::string> SectionContext::program(TableReader& table, std::string_view key,
                                                 std::vector<std::string> words) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::error_code code;
    const fs::path beside = resolve(words[i]);
    const bool is_there = fs::is_regular_file(beside, code);
    const bool is_path = i == 0 && words[i].find('/') != std::string::npos;
    if (is_there || is_path) {
      if (!is_there && existence == Existence::kNow) {
        table.problem(key, fmt::format("there is no program {}", beside.string()));
      }
      words[i] = beside.string();
    } else if (existence == Existence::kNow && words[i].ends_with(".py")) {
      table.problem(
          key, fmt::format("there is no script {}: relative paths start at the contract's folder",
                           beside.string()));
    }
  }
  return words;
}

Result<Contract> parse_contract(std::string text, const fs::path& file) {
  return parse(std::move(text), file, Existence::kLater);
}

Result<Contract> read_contract(const fs::path& file) {
  std::error_code code;
  if (!fs::is_regular_file(file, code)) {
    return fail(ErrorKind::kContract, fmt::format("cannot read {}: no such file", file.string()),
                "`fiel init MODEL` writes a contract to edit");
  }
  std::ostringstream text;
  std::ifstream stream(file, std::ios::binary);
  text << stream.rdbuf();
  if (!stream || !text)
    return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", file.string()));
  return parse(std::move(text).str(), file, Existence::kNow);
}

}  // namespace fiel
