#include "worker/timed_loop.h"

#include <sys/prctl.h>

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
  Clock::time_point start, end;  // server: from when it was due
  std::int64_t sample_count;
  std::size_t request = 0;  // server: its number among the arrivals
};

/// What the threads of a run over several slots share. Each writes only its own element of `logs`.
struct Slots {
  struct Log {
    std::vector<double> warmup_seconds;
    std::vector<TimedBatch> batches;
    EngineResult<> result;
  };

  Slots(Engine& used_engine, const Feed& used_feed, const LoopLimits& used_limits, int slot_count,
        std::span<const double> used_arrivals)
      : engine(used_engine), limits(used_limits), arrivals(used_arrivals), warmed_up(slot_count) {
    logs.resize(static_cast<std::size_t>(slot_count));
    for (int slot = 0; slot < slot_count; ++slot) {
      streams.push_back(std::make_unique<Stream>(engine, used_feed, slot, ticket));
    }
  }

  /// Begins at once, or when the request is due. One that is begun late is late from then on.
  EngineResult<TimedBatch> infer(int slot, std::optional<Clock::time_point> due = {}) {
    Stream& stream = *streams[static_cast<std::size_t>(slot)];
    FIEL_TRY_ENGINE(stream.prepare());
    if (due) std::this_thread::sleep_until(*due);
    const Clock::time_point start = Clock::now();
    EngineResult<> ran = engine.start(slot);
    if (ran) ran = engine.wait(slot);
    const Clock::time_point end = Clock::now();
    if (!ran) return std::unexpected(std::move(ran).error());
    FIEL_TRY_ENGINE(stream.advance());
    return TimedBatch{.start = due.value_or(start), .end = end, .sample_count = stream.sample_count()};
  }

  EngineResult<> warm_up(int slot, Log& log) {
    for (std::int64_t i = 0; i < limits.warmup_count; ++i) {
      const TimedBatch batch = FIEL_TRY_ENGINE(infer(slot));
      log.warmup_seconds.push_back(seconds_between(batch.start, batch.end));
    }
    return {};
  }

  EngineResult<> run_busy(int slot, Log& log) {
    const Clock::time_point begin = Clock::now();
    while (!stop.load(std::memory_order_relaxed)) {
      log.batches.push_back(FIEL_TRY_ENGINE(infer(slot)));
      const std::int64_t count = batch_count.fetch_add(1, std::memory_order_relaxed) + 1;
      if (enough(limits, count, seconds_between(begin, log.batches.back().end))) stop = true;
    }
    return {};
  }

  EngineResult<> run_arrivals(int slot, Log& log) {
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel may wake us 50 microseconds late
    while (!stop.load(std::memory_order_relaxed)) {
      const std::size_t request = next_request.fetch_add(1, std::memory_order_relaxed);
      if (request >= arrivals.size()) break;
      // The first one is always made, so that there is something to tell.
      if (request > 0 && !(seconds_between(began, Clock::now()) < limits.max_seconds)) break;
      const auto due = began + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(arrivals[request]));
      log.batches.push_back(FIEL_TRY_ENGINE(infer(slot, due)));
      log.batches.back().request = request;
    }
    return {};
  }

  void thread_main(int slot) {
    Log& log = logs[static_cast<std::size_t>(slot)];
    log.batches.reserve(kLatencyRoom);
    log.result = guarded("internal", [&] { return warm_up(slot, log); });
    if (!log.result) stop = true;
    warmed_up.arrive_and_wait();
    if (slot == 0) began = Clock::now();
    warmed_up.arrive_and_wait();
    if (stop) return;
    log.result = guarded("internal", [&] {
      return arrivals.empty() ? run_busy(slot, log) : run_arrivals(slot, log);
    });
    if (!log.result) stop = true;
  }

  Engine& engine;
  const LoopLimits& limits;
  std::span<const double> arrivals;  // empty: closed loop
  std::atomic<std::size_t> ticket{0};
  std::atomic<std::size_t> next_request{0};
  std::atomic<std::int64_t> batch_count{0};
  std::atomic<bool> stop{false};
  Clock::time_point began;  // written between the two meetings at the barrier
  std::barrier<> warmed_up;
  std::vector<Log> logs;
  std::vector<std::unique_ptr<Stream>> streams;
};

using SlotBatch = std::pair<TimedBatch, std::size_t>;  // with its slot

/// Runs all slots; what they did, slot by slot.
EngineResult<std::vector<SlotBatch>> run_slots(Slots& slots, LoopReport& report) {
  {
    std::vector<std::jthread> threads;
    for (std::size_t slot = 0; slot < slots.logs.size(); ++slot) {
      threads.emplace_back([&slots, slot] { slots.thread_main(static_cast<int>(slot)); });
    }
  }
  report.warmup_seconds.assign(static_cast<std::size_t>(slots.limits.warmup_count), 0.0);
  std::vector<SlotBatch> all;
  for (std::size_t slot = 0; slot < slots.logs.size(); ++slot) {
    Slots::Log& log = slots.logs[slot];
    if (!log.result) return std::unexpected(std::move(log.result).error());
    for (std::size_t i = 0; i < log.warmup_seconds.size(); ++i) {
      report.warmup_seconds[i] = std::max(report.warmup_seconds[i], log.warmup_seconds[i]);
    }
    for (const TimedBatch& batch : log.batches) all.emplace_back(batch, slot);
  }
  return all;
}

/// `all` in the order in which they are to be reported.
EngineResult<LoopReport> sum_up(Slots& slots, const std::vector<SlotBatch>& all, LoopReport report) {
  Clock::time_point first = Clock::time_point::max();
  const SlotBatch* last = &all.front();
  for (const SlotBatch& entry : all) {
    const TimedBatch& batch = entry.first;
    first = std::min(first, batch.start);
    if (batch.end >= last->first.end) last = &entry;
    report.count += batch.sample_count;
    report.latency_seconds.push_back(seconds_between(batch.start, batch.end));
  }
  report.seconds = seconds_between(first, last->first.end);
  report.last = FIEL_TRY_ENGINE(slots.streams[last->second]->take_finished());
  return report;
}

}  // namespace

EngineResult<LoopReport> run_offline(Engine& engine, const Feed& feed, const LoopLimits& limits,
                                     int slot_count) {
  Slots slots(engine, feed, limits, slot_count, {});
  LoopReport report;
  std::vector<SlotBatch> all = FIEL_TRY_ENGINE(run_slots(slots, report));
  std::ranges::sort(all, {}, [](const SlotBatch& entry) { return entry.first.end; });
  return sum_up(slots, all, std::move(report));
}

EngineResult<LoopReport> run_server(Engine& engine, const Feed& feed, const LoopLimits& limits,
                                    const ServerLoad& load) {
  Slots slots(engine, feed, limits, load.slot_count, load.arrivals_seconds);
  LoopReport report;
  std::vector<SlotBatch> all = FIEL_TRY_ENGINE(run_slots(slots, report));
  std::ranges::sort(all, {}, [](const SlotBatch& entry) { return entry.first.request; });
  // At max_seconds one slot may just have let its request go while another still began the next.
  std::size_t done = 0;
  while (done < all.size() && all[done].first.request == done) ++done;
  all.resize(done);
  return sum_up(slots, all, std::move(report));
}

}  // namespace fiel
