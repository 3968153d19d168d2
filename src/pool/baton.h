// Threads of which one runs at a time: whoever holds the baton. The others wait for a worker, for work, or for their turn. So what
// they share needs no locks, and nothing changes under anybody's hands but where it waits. Turns come in the order of asking.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace fiel {

class Baton {
 public:
  /// Somebody who may sleep; lives longer than its sleep.
  class Sleeper {
    friend class Baton;
    std::condition_variable turn_came_;
    bool has_turn_ = false;
  };

  void take();
  void give();
  /// Gives, and takes again at the turn that wake() asked for.
  void sleep(Sleeper& sleeper);
  /// By the holder: `sleeper`, which sleeps, is to have a turn.
  void wake(Sleeper& sleeper);
  /// Lets those go first who ask now.
  void let_others();

  /// Called where nobody wants the baton, to name a sleeper whose turn it is then, or none. For simulated time, which stands still
  /// while anybody works.
  void when_idle(std::function<Sleeper*()> call) { when_idle_ = std::move(call); }

 private:
  void pass_on();  // with mutex_ held
  void wait_for_turn(std::unique_lock<std::mutex>& lock, Sleeper& sleeper);

  std::mutex mutex_;
  bool held_ = false;
  std::deque<Sleeper*> queue_;
  std::function<Sleeper*()> when_idle_;
};

/// While it lives, this thread only waits, and others may run. null: there are no others.
class Waiting {
 public:
  explicit Waiting(Baton* baton) : baton_(baton) {
    if (baton_ != nullptr) baton_->give();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (baton_ != nullptr) baton_->take();
  }

 private:
  Baton* baton_;
};

}  // namespace fiel
