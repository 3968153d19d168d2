// Work for several machines at once: seats, each a thread with a machine of its own, and one queue. One thread runs at a time
// (pool/baton.h); side by side is only what they wait for. Knows no machines: how a seat gets its own is the owner's.
//
// A child process dies with the thread that started it (base/subprocess.h), so what a seat started is ended before the seat is.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/subprocess.h"
#include "pool/baton.h"

namespace fiel {

class Crew {
 public:
  struct Options {
    int seats = 1;
    /// All of these on the seat's own thread but `hurry`. Before it takes work, and again where work said kAgain; false: it
    /// takes none any more, unless it is the last.
    std::function<bool(int seat)> prepare = {};
    /// When it takes no more work.
    std::function<void(int seat)> leave = {};
    /// From another thread: a prepare() that still waits for something is to end.
    std::function<void(int seat)> hurry = {};
  };
  enum class End { kDone, kAgain };  // kAgain: by a seat that is prepared anew
  using Job = std::function<End()>;
  using Ticket = std::int64_t;

  /// The calling thread holds the baton from now on, but where it waits.
  explicit Crew(Options options);
  /// What is begun ends first; what is not is dropped.
  ~Crew();

  Baton& baton() { return baton_; }
  int seats() const { return options_.seats; }
  /// Of the calling thread. The owner's sits at the first one, and works there only while nobody else does.
  int seat() const;
  bool is_owner() const { return std::this_thread::get_id() == owner_; }

  /// Queued for the first seat that is free.
  Ticket begin(Job job);
  /// Once for each ticket, by the owner.
  void wait(Ticket ticket);
  /// At once, before all that is queued.
  void run(Job job);
  /// What is not begun is dropped, and what is, waited for.
  void clear();
  /// All seats but the first end.
  void dismiss();

 private:
  struct Task {
    Ticket ticket = 0;
    Job job;
  };
  struct Seat {
    std::thread thread;
    Baton::Sleeper sleeper;
    bool idle = false, preparing = false, ended = false;
  };

  void start(int seat);
  void serve(int seat);
  bool is_over(int seat) const { return closing_ || (seat > 0 && dismissed_); }
  void wake_one();
  void end_seats(int first);

  Options options_;
  Baton baton_;
  WhileWaiting others_go_on_;  // where the owner runs programs
  std::thread::id owner_;
  std::vector<Seat> seats_;
  std::map<std::thread::id, int> seat_of_;
  std::list<Task> queue_;
  std::set<Ticket> running_, done_;
  Ticket last_ticket_ = 0;
  Ticket awaited_ = 0;
  Baton::Sleeper owner_sleeper_;
  int serving_ = 0;
  bool closing_ = false, dismissed_ = false, clearing_ = false;
};

}  // namespace fiel
