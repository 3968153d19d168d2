#include "pool/baton.h"

namespace fiel {

void Baton::wait_for_turn(std::unique_lock<std::mutex>& lock, Sleeper& sleeper) {
  sleeper.turn_came_.wait(lock, [&] { return sleeper.has_turn_; });
  sleeper.has_turn_ = false;
}

void Baton::pass_on() {
  if (queue_.empty() && when_idle_) {
    if (Sleeper* next = when_idle_()) queue_.push_back(next);
  }
  held_ = !queue_.empty();
  if (!held_) return;
  Sleeper& next = *queue_.front();
  queue_.pop_front();
  next.has_turn_ = true;
  next.turn_came_.notify_one();
}

void Baton::take() {
  std::unique_lock lock(mutex_);
  if (!held_) {
    held_ = true;
    return;
  }
  Sleeper me;
  queue_.push_back(&me);
  wait_for_turn(lock, me);
}

void Baton::give() {
  const std::unique_lock lock(mutex_);
  pass_on();
}

void Baton::sleep(Sleeper& sleeper) {
  std::unique_lock lock(mutex_);
  pass_on();
  wait_for_turn(lock, sleeper);
}

void Baton::wake(Sleeper& sleeper) {
  const std::unique_lock lock(mutex_);
  queue_.push_back(&sleeper);
}

void Baton::let_others() {
  std::unique_lock lock(mutex_);
  if (queue_.empty()) return;
  Sleeper me;
  queue_.push_back(&me);
  pass_on();
  wait_for_turn(lock, me);
}

}  // namespace fiel
