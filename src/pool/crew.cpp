#include "pool/crew.h"

#include "base/result.h"

namespace fiel {

Crew::Crew(Options options)
    : options_(std::move(options)), others_go_on_([this] { baton_.let_others(); }), owner_(std::this_thread::get_id()), seats_(static_cast<std::size_t>(options_.seats)) {
  baton_.take();
}

Crew::~Crew() {
  closing_ = true;
  end_seats(0);
  baton_.give();
}

int Crew::seat() const {
  const auto found = seat_of_.find(std::this_thread::get_id());
  return found == seat_of_.end() ? 0 : found->second;
}

void Crew::start(int seat) {
  Seat& one = seats_[static_cast<std::size_t>(seat)];
  if (one.thread.joinable() || is_over(seat)) return;
  ++serving_;
  one.thread = std::thread([this, seat] { serve(seat); });
}

void Crew::wake_one() {
  for (Seat& one : seats_) {
    if (!one.idle) continue;
    one.idle = false;
    baton_.wake(one.sleeper);
    return;
  }
}

Crew::Ticket Crew::begin(Job job) {
  queue_.push_back({.ticket = ++last_ticket_, .job = std::move(job)});
  for (int seat = 0; seat < options_.seats; ++seat) start(seat);
  wake_one();
  return last_ticket_;
}

void Crew::run(Job job) {
  queue_.push_front({.ticket = ++last_ticket_, .job = std::move(job)});
  start(0);
  wake_one();
  wait(last_ticket_);
}

void Crew::wait(Ticket ticket) {
  FIEL_CHECK(is_owner());
  if (!done_.contains(ticket)) {
    awaited_ = ticket;
    baton_.sleep(owner_sleeper_);
    awaited_ = 0;
  }
  done_.erase(ticket);
}

void Crew::serve(int seat) {
  baton_.take();
  seat_of_[std::this_thread::get_id()] = seat;
  Seat& me = seats_[static_cast<std::size_t>(seat)];
  const WhileWaiting others_go_on([this] { baton_.let_others(); });
  bool prepared = !options_.prepare;
  while (!is_over(seat)) {
    if (!prepared) {
      me.preparing = true;
      prepared = options_.prepare(seat);
      me.preparing = false;
      if (is_over(seat) || (!prepared && serving_ > 1)) break;
      prepared = true;
    }
    if (queue_.empty()) {
      me.idle = true;
      baton_.sleep(me.sleeper);
      continue;
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    running_.insert(task.ticket);
    const End end = task.job();
    running_.erase(task.ticket);
    if (end == End::kAgain) prepared = !options_.prepare;
    if (end == End::kAgain && !clearing_) {
      queue_.push_front(std::move(task));
      wake_one();
      continue;
    }
    done_.insert(task.ticket);
    if (awaited_ == task.ticket) baton_.wake(owner_sleeper_);
  }
  if (options_.leave) options_.leave(seat);
  --serving_;
  seat_of_.erase(std::this_thread::get_id());
  me.ended = true;
  baton_.give();
}

void Crew::end_seats(int first) {
  for (std::size_t seat = static_cast<std::size_t>(first); seat < seats_.size(); ++seat) {
    Seat& one = seats_[seat];
    if (one.idle) baton_.wake(one.sleeper);
    one.idle = false;
    if (one.preparing && options_.hurry) options_.hurry(static_cast<int>(seat));
  }
  const Waiting waiting(&baton_);
  for (std::size_t seat = static_cast<std::size_t>(first); seat < seats_.size(); ++seat) {
    if (seats_[seat].thread.joinable()) seats_[seat].thread.join();
  }
}

void Crew::clear() {
  queue_.clear();
  clearing_ = true;
  while (!running_.empty()) wait(*running_.begin());
  clearing_ = false;
  done_.clear();
}

void Crew::dismiss() {
  dismissed_ = true;
  end_seats(1);
  // Should the first one have given up for want of a machine, it tries again at the next job.
  if (seats_[0].ended && seats_[0].thread.joinable()) seats_[0].thread.join();
  if (!seats_[0].thread.joinable()) seats_[0].ended = false;
}

}  // namespace fiel
