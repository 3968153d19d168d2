#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/fuzz.h"
#include "journal/journal.h"

std::vector<std::string> fiel::fuzz_seeds() {
  const auto file = fuzz_folder() / "seed.db";
  std::filesystem::remove(file);
  {
    auto journal = Journal::create(file).value();
    (void)journal.append("run", "run", Json{{"seed", 1}}, 0.5, {{"latencies", {0.001, 0.002}}});
    (void)journal.append("candidate/1/tried", "tried", Json{{"route", "engine=e"}}, 1.25);
  }
  return {read_text(file).value()};
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const char* beside : {"run.db-wal", "run.db-shm", "run.db-journal"}) std::filesystem::remove(fiel::fuzz_folder() / beside);
  const auto file = fiel::fuzz_file("run.db", fiel::fuzz_text(data, size));
  const auto journal = fiel::Journal::open_read_only(file);
  if (!journal) return 0;
  for (const fiel::Event& event : journal->events()) {
    (void)journal->body(event.key);
    (void)journal->series(event.number);
  }
  return 0;
}
