#include "worker/timed_loop.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "worker/guard.h"

namespace fiel {
namespace {

using Clock = std::chrono::steady_clock;

// Room for a tenth of a second of inferences of a microsecond, so that growing is rare (it is never
// inside an interval). Pages that are not written cost nothing.
constexpr std::size_t kLatencyRoom = std::size_t{1} << 17;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

bool enough(const LoopLimits& limits, std::int64_t count, double elapsed_seconds) {
  if (!(elapsed_seconds < limits.max_seconds)) return true;
  return count >= limits.min_count && elapsed_seconds >= limits.min_seconds;
}

/// A slot that knows which item is next.
class Stream {
 public:
  Stream(Engine& engine, const Feed& feed, int slot, std::atomic<std::size_t>& ticket)
      : runner_(engine, feed, slot), feed_(feed), ticket_(ticket) {}

  EngineResult<> prepare() {
    if (runner_.done()) {
      item_ = ticket_.fetch_add(1, std::memory_order_relaxed) % feed_.item_count();
      runner_.begin(item_);
    }
    return runner_.prepare();
  }
  EngineResult<> advance() { return runner_.advance(); }
  EngineResult<Finished> take_finished() { return runner_.take_finished(); }
  std::int64_t sample_count() const { return feed_.recurrent() ? 1 : feed_.sample_count(item_); }

 private:
  SlotRunner runner_;
  const Feed& feed_;
  std::atomic<std::size_t>& ticket_;
  std::size_t item_ = 0;
};

}  // namespace

EngineResult<LoopReport> run_single_stream(Engine& engine, const Feed& feed,
                                           const LoopLimits& limits) {
  LoopReport report;
  report.latency_seconds.reserve(kLatencyRoom);
  std::atomic<std::size_t> ticket{0};
  Stream stream(engine, feed, 0, ticket);
  Clock::time_point start, end;
  const auto infer = [&]() -> EngineResult<> {
    FIEL_TRY_ENGINE(stream.prepare());
    start = Clock::now();
    EngineResult<> ran = engine.run(0);
    end = Clock::now();
    if (!ran) return ran;
    return stream.advance();
  };
  for (std::int64_t i = 0; i < limits.warmup_count; ++i) {
    FIEL_TRY_ENGINE(infer());
    report.warmup_seconds.push_back(seconds_between(start, end));
  }
  std::optional<Clock::time_point> first;
  do {
    FIEL_TRY_ENGINE(infer());
    if (!first) first = start;
    report.latency_seconds.push_back(seconds_between(start, end));
    report.seconds = seconds_between(*first, end);
  } while (
      !enough(limits, static_cast<std::int64_t>(report.latency_seconds.size()), report.seconds));
  report.count = static_cast<std::int64_t>(report.latency_seconds.size());
  report.last = FIEL_TRY_ENGINE(stream.take_finished());
  return report;
}

namespace {

struct TimedBatch {
  Clock::time_point start, end;
  std::int64_t sample_count;
};

/// What the threads of an offline run share. Each writes only its own element of `logs`.
struct Offline {
  struct Log {
    std::vector<double> warmup_seconds;
    std::vector<TimedBatch> batches;
    EngineResult<> result;
  };

  Offline(Engine& used_engine, const Feed& used_feed, const LoopLimits& used_limits, int slot_count)
      : engine(used_engine), limits(used_limits), warmed_up(slot_count) {
    logs.resize(static_cast<std::size_t>(slot_count));
    for (int slot = 0; slot < slot_count; ++slot) {
      streams.push_back(std::make_unique<Stream>(engine, used_feed, slot, ticket));
    }
  }

  EngineResult<TimedBatch> infer(int slot) {
    Stream& stream = *streams[static_cast<std::size_t>(slot)];
    FIEL_TRY_ENGINE(stream.prepare());
    const Clock::time_point start = Clock::now();
    EngineResult<> ran = engine.start(slot);
    if (ran) ran = engine.wait(slot);
    const Clock::time_point end = Clock::now();
    if (!ran) return std::unexpected(std::move(ran).error());
    FIEL_TRY_ENGINE(stream.advance());
    return TimedBatch{.start = start, .end = end, .sample_count = stream.sample_count()};
  }

  EngineResult<> warm_up(int slot, Log& log) {
    for (std::int64_t i = 0; i < limits.warmup_count; ++i) {
      const TimedBatch batch = FIEL_TRY_ENGINE(infer(slot));
      log.warmup_seconds.push_back(seconds_between(batch.start, batch.end));
    }
    return {};
  }

  EngineResult<> run(int slot, Log& log, Clock::time_point begin) {
    while (!stop.load(std::memory_order_relaxed)) {
      log.batches.push_back(FIEL_TRY_ENGINE(infer(slot)));
      const std::int64_t count = batch_count.fetch_add(1, std::memory_order_relaxed) + 1;
      if (enough(limits, count, seconds_between(begin, log.batches.back().end))) stop = true;
    }
    return {};
  }

  void thread_main(int slot) {
    Log& log = logs[static_cast<std::size_t>(slot)];
    log.batches.reserve(kLatencyRoom);
    log.result = guarded("internal", [&] { return warm_up(slot, log); });
    if (!log.result) stop = true;
    warmed_up.arrive_and_wait();
    if (stop) return;
    log.result = guarded("internal", [&] { return run(slot, log, Clock::now()); });
    if (!log.result) stop = true;
  }

  Engine& engine;
  const LoopLimits& limits;
  std::atomic<std::size_t> ticket{0};
  std::atomic<std::int64_t> batch_count{0};
  std::atomic<bool> stop{false};
  std::barrier<> warmed_up;
  std::vector<Log> logs;
  std::vector<std::unique_ptr<Stream>> streams;
};

}  // namespace

EngineResult<LoopReport> run_offline(Engine& engine, const Feed& feed, const LoopLimits& limits,
                                     int slot_count) {
  Offline offline(engine, feed, limits, slot_count);
  {
    std::vector<std::jthread> threads;
    for (int slot = 0; slot < slot_count; ++slot) {
      threads.emplace_back([&offline, slot] { offline.thread_main(slot); });
    }
  }
  LoopReport report;
  report.warmup_seconds.assign(static_cast<std::size_t>(limits.warmup_count), 0.0);
  std::vector<std::pair<TimedBatch, std::size_t>> all;  // with its slot
  for (std::size_t slot = 0; slot < offline.logs.size(); ++slot) {
    Offline::Log& log = offline.logs[slot];
    if (!log.result) return std::unexpected(std::move(log.result).error());
    for (std::size_t i = 0; i < log.warmup_seconds.size(); ++i) {
      report.warmup_seconds[i] = std::max(report.warmup_seconds[i], log.warmup_seconds[i]);
    }
    for (const TimedBatch& batch : log.batches) all.emplace_back(batch, slot);
  }
  std::ranges::sort(all, {}, [](const auto& entry) { return entry.first.end; });
  Clock::time_point first = Clock::time_point::max();
  for (const auto& [batch, slot] : all) {
    first = std::min(first, batch.start);
    report.count += batch.sample_count;
    report.latency_seconds.push_back(seconds_between(batch.start, batch.end));
  }
  report.seconds = seconds_between(first, all.back().first.end);
  report.last = FIEL_TRY_ENGINE(offline.streams[all.back().second]->take_finished());
  return report;
}

}  // namespace fiel
