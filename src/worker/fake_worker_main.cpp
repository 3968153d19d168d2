// fiel-worker-fake SCRIPT: the worker of the scripted engine, for tests and for trying fiel without
// an engine. docs/fake-engine.md describes the script. This file is the conversation and the ways
// to break it.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/json.h"
#include "worker/engine_fake.h"

namespace fiel::fake {
namespace {

// The worker's descriptors 0 and 1, kept before anything can print to them.
class Wire {
 public:
  Wire() : in_(::fcntl(0, F_DUPFD_CLOEXEC, 3)), out_(::fcntl(1, F_DUPFD_CLOEXEC, 3)) {
    ::dup2(2, 1);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, 0);
    ::close(nothing);
  }

  std::optional<std::string> read_line() {
    for (;;) {
      const std::size_t newline = buffer_.find('\n');
      if (newline != std::string::npos) {
        std::string line = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        return line;
      }
      char bytes[1 << 16];
      const ssize_t got = ::read(in_, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      buffer_.append(bytes, static_cast<std::size_t>(got));
    }
  }

  /// False: nobody reads any more.
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::write(out_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  void close_output() const { ::close(out_); }

 private:
  int in_, out_;
  std::string buffer_;
};

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

[[noreturn]] void hang(const Json& how) {
  if (how.value("ignore_sigterm", false)) std::signal(SIGTERM, SIG_IGN);
  // A child that holds our output open and, if asked to, leaves our process group.
  if (how.value("grandchild", false) && ::fork() == 0) {
    if (how.value("escape", false)) ::setsid();
    wait_for_ever();
  }
  wait_for_ever();
}

// Really takes the memory, in steps, and never gives it back.
void leak(std::int64_t bytes) {
  constexpr std::int64_t kStep = std::int64_t{4} << 20;
  for (; bytes > 0; bytes -= kStep) {
    const auto size = static_cast<std::size_t>(std::min(bytes, kStep));
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    std::memset(memory, 1, size);
    ::poll(nullptr, 0, 1);
  }
}

// The text once, or over and over until there are `bytes` of it.
void print(std::string text, std::int64_t bytes) {
  if (text.empty()) return;
  while (std::ssize(text) < std::min<std::int64_t>(bytes, 1 << 16)) text += text;
  do {
    std::fwrite(text.data(), 1, text.size(), stderr);
    bytes -= std::ssize(text);
  } while (bytes > 0);
}

// Faults that show before the request is answered. Returns the answer where the fault is one.
std::optional<std::string> act_before(const Fault& fault, const Json& request, const Wire& wire) {
  const Json how = parse_json(fault.parameters).value_or(Json::object());
  const std::string& action = fault.action;
  const auto id = request.value("id", std::int64_t{0});
  if (how.value("after_answer", false)) return std::nullopt;
  if (action == "crash") {
    std::signal(how.value("signal", SIGSEGV), SIG_DFL);
    ::raise(how.value("signal", SIGSEGV));
  }
  if (action == "exit") ::_exit(how.value("status", 0));
  if (action == "hang") hang(how);
  if (action == "stop") ::raise(SIGSTOP);
  if (action == "slow") ::poll(nullptr, 0, static_cast<int>(how.value("seconds", 1.0) * 1000));
  if (action == "leak") leak(how.value("bytes", std::int64_t{1} << 30));
  if (action == "print")
    print(how.value("text", "the engine says something\n"), how.value("bytes", std::int64_t{0}));
  if (action == "close_output") {
    wire.close_output();
    wait_for_ever();
  }
  if (action == "flood") {
    const std::string line =
        dump_json({{"id", id}, {"type", "progress"}, {"message", "still busy"}}) + "\n";
    while (wire.write(line)) {
    }
  }
  if (action == "long_line") {
    const std::string piece(1 << 16, 'x');
    while (wire.write(piece)) {
    }
  }
  if (action == "error") {
    return dump_json({{"id", id},
                      {"type", "error"},
                      {"reason", how.value("reason", "internal")},
                      {"message", how.value("message", "as the script says")}}) +
           "\n";
  }
  if (action == "garbage") return how.value("text", "Segmentation fault (not really)") + "\n";
  if (action == "invalid_utf8") {
    return fmt::format("{{\"id\":{},\"type\":\"result\",\"version\":\"\xff\xfe\"}}\n", id);
  }
  return std::nullopt;
}

// Faults in how the answer, which is right in itself, gets out.
void act_on_answer(const Fault& fault, const Json& request, Json& answer, std::string& text,
                   const Wire& wire) {
  const Json how = parse_json(fault.parameters).value_or(Json::object());
  if (fault.action == "wrong_id") {
    answer["id"] = request.value("id", std::int64_t{0}) + 1;
    text = dump_json(answer) + "\n";
  }
  if (fault.action == "unknown_type") {
    answer["type"] = "results";
    text = dump_json(answer) + "\n";
  }
  if (fault.action == "twice") text += text;
  if (fault.action == "half_line") {
    wire.write(std::string_view(text).substr(0, text.size() / 2));
    if (how.contains("status")) ::_exit(how.value("status", 0));
    wait_for_ever();
  }
}

// Answers one request. False: it was the last one.
bool serve_one(FakeEngine& engine, const Json& request, const Wire& wire) {
  engine.prepare(request);
  std::optional<std::string> instead;
  for (const Fault* fault : engine.faults(request)) {
    if (auto text = act_before(*fault, request, wire)) instead = std::move(text);
  }
  Json answer = engine.answer(request);
  answer["id"] = request.value("id", std::int64_t{0});
  std::string text = dump_json(answer) + "\n";
  for (const Fault* fault : engine.faults(request))
    act_on_answer(*fault, request, answer, text, wire);
  wire.write(instead.value_or(text));
  for (const Fault* fault : engine.faults(request)) {
    const Json how = parse_json(fault->parameters).value_or(Json::object());
    if (!how.value("after_answer", false)) continue;
    if (fault->action == "exit") ::_exit(how.value("status", 0));
    if (fault->action == "crash") ::raise(how.value("signal", SIGSEGV));
    if (fault->action == "garbage") wire.write(how.value("text", "oh, and one more thing") + "\n");
  }
  return request.value("type", "") != "bye";
}

int run(const char* path) {
  Wire wire;
  const auto script = read_script(path);
  if (!script) {
    fmt::print(stderr, "fiel-worker-fake: {}\n", script.error().message);
    return 2;
  }
  FakeEngine engine(*script);
  const Json start = {{"type", "start"}};
  for (const Fault* fault : engine.faults(start)) {
    if (const auto text = act_before(*fault, start, wire)) wire.write(*text);
  }
  while (const auto line = wire.read_line()) {
    const auto request = parse_json(*line);
    if (!request || !request->is_object()) return 1;
    try {
      if (!serve_one(engine, *request, wire)) return 0;
    } catch (const Json::exception& error) {
      // A request or a script with a value of a wrong type: say it and end, so that a test sees it.
      fmt::print(stderr, "fiel-worker-fake: {}\n", error.what());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace fiel::fake

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fiel-worker-fake SCRIPT (see docs/fake-engine.md)\n", stderr);
    return 2;
  }
  return fiel::fake::run(argv[1]);
}
