// [fleet]: on whose machine the workers run, and how one gets there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "contract/sections.h"

namespace fiel {
namespace {

constexpr std::int64_t kMostMachines = 512;

constexpr std::string_view kPlaceholders[] = {"{node}", "{job}"};

// A launcher gets its words as they are, from no shell: what would be read otherwise is refused.
std::string why_no_words(std::string_view text) {
  if (text.find_first_of("'\"\\$`") != std::string_view::npos) {
    return "holds quotes, \\ or $: it is cut at blanks and read by no shell; a script of your own can do the rest";
  }
  if (text.find_first_not_of(" \t") == std::string_view::npos) return "is empty";
  return {};
}

std::string unknown_placeholder(std::string_view text) {
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const auto known = [&](std::string_view name) { return text.substr(at).starts_with(name); };
    if (!std::ranges::any_of(kPlaceholders, known)) return "knows {node} and {job} only";
  }
  return {};
}

std::vector<std::string> cut_at_blanks(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

}  // namespace

Result<std::vector<std::string>> launcher_words(const std::string& text) {
  std::string problem = why_no_words(text);
  if (problem.empty() && text.find('{') != std::string::npos) problem = "has a placeholder: those belong to `join`";
  if (!problem.empty()) return fail(ErrorKind::kUsage, fmt::format("the launcher \"{}\" {}", text, problem));
  return cut_at_blanks(text);
}

// A step of Slurm's that shares the node of a job that is there already, all of its cores included. What other launchers do
// twice leads to the same machine (ssh HOST, kubectl exec POD).
std::vector<std::string> FleetTarget::join_words() const {
  if (!join.empty() || launcher.empty()) return join.empty() ? launcher : join;
  if (std::filesystem::path(launcher[0]).filename() != "srun") return launcher;
  return {launcher[0],  "--jobid={job}", "--nodelist={node}", "--overlap",
          "--nodes=1", "--ntasks=1",    "--cpu-bind=none", "--quiet"};
}

std::vector<std::string> FleetTarget::cancel_words() const {
  if (launcher.empty()) return {};
  std::filesystem::path program = launcher[0];
  if (program.filename() != "srun") return {};
  return {program.replace_filename("scancel").string(), "{job}"};
}

namespace {

void read_kind(TableReader& table, const SectionContext& context, std::vector<std::string>& launcher, std::vector<std::string>& join) {
  if (const auto text = table.text("launcher")) {
    if (auto words = launcher_words(*text)) {
      launcher = context.program(table, "launcher", *std::move(words));
    } else {
      table.problem("launcher", words.error().message);
    }
  }
  if (const auto text = table.text("join")) {
    std::string problem = why_no_words(*text);
    if (problem.empty()) problem = unknown_placeholder(*text);
    if (!problem.empty()) table.problem("join", problem);
    join = context.program(table, "join", cut_at_blanks(*text));
  }
}

constexpr std::string_view kWantsLauncher =
    "a command that starts its last words on another machine: launcher = \"srun --exclusive --nodes=1\"";

}  // namespace

void read_fleet(TableReader& table, const SectionContext& context, Contract& contract) {
  if (auto targets = table.table("targets")) {
    for (auto& [name, kind] : targets->named_tables()) {
      kind.require("launcher", kWantsLauncher);
      FleetTarget::Kind& read = contract.fleet.targets[name];
      read_kind(kind, context, read.launcher, read.join);
      kind.finish();
    }
    targets->finish();
  }
  if (contract.fleet.targets.empty()) table.require("launcher", kWantsLauncher);
  read_kind(table, context, contract.fleet.launcher, contract.fleet.join);
  contract.fleet.wait_seconds = table.seconds("wait").value_or(contract.fleet.wait_seconds);
  contract.fleet.patience_seconds = table.seconds("patience").value_or(contract.fleet.patience_seconds);
  if (const auto workers = table.integer("workers", 1, kMostMachines)) contract.fleet.workers = static_cast<int>(*workers);
}

}  // namespace fiel
