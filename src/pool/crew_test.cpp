// Seats that work side by side where they wait: in simulated time, so that nobody sleeps.
#include "pool/crew.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace fiel {
namespace {

// Seconds that pass only where everybody waits.
class PassingTime {
 public:
  explicit PassingTime(Baton& baton) : baton_(baton) {
    baton_.when_idle([this]() -> Baton::Sleeper* {
      if (sleepers_.empty()) return nullptr;
      const auto [at, sleeper] = *sleepers_.begin();
      sleepers_.erase(sleepers_.begin());
      now_ = at;
      return sleeper;
    });
  }
  void pass(int seconds) {
    Baton::Sleeper me;
    sleepers_.emplace(now_ + seconds, &me);
    baton_.sleep(me);
  }
  int now() const { return now_; }

 private:
  Baton& baton_;
  std::multimap<int, Baton::Sleeper*> sleepers_;
  int now_ = 0;
};

// The seats' threads are up, so that none of them comes late to the first work.
void bring_up_all(Crew& crew) {
  int here = 0;
  std::vector<Crew::Ticket> tickets;
  for (int i = 0; i < crew.seats(); ++i) {
    tickets.push_back(crew.begin([&] {
      ++here;
      while (here < crew.seats()) {
        const Waiting others(&crew.baton());
        std::this_thread::yield();
      }
      return Crew::End::kDone;
    }));
  }
  for (const auto ticket : tickets) crew.wait(ticket);
}

TEST(Crew, TenWaitsOfASecondOnFourSeatsTakeThreeSeconds) {
  Crew crew({.seats = 4});
  bring_up_all(crew);
  PassingTime time(crew.baton());
  std::vector<Crew::Ticket> tickets;
  std::set<int> seats;
  for (int i = 0; i < 10; ++i) {
    tickets.push_back(crew.begin([&] {
      seats.insert(crew.seat());
      time.pass(1);
      return Crew::End::kDone;
    }));
  }
  for (const auto ticket : tickets) crew.wait(ticket);
  EXPECT_EQ(time.now(), 3);
  EXPECT_EQ(seats.size(), 4U);
}

TEST(Crew, OneRunsAtATime) {
  Crew crew({.seats = 8});
  int inside = 0, most = 0, count = 0;
  std::vector<Crew::Ticket> tickets;
  for (int i = 0; i < 200; ++i) {
    tickets.push_back(crew.begin([&] {
      for (int step = 0; step < 5; ++step) {
        most = std::max(most, ++inside);
        ++count;
        --inside;
        const Waiting others(&crew.baton());
      }
      return Crew::End::kDone;
    }));
  }
  for (const auto ticket : tickets) crew.wait(ticket);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(count, 1000);
}

TEST(Crew, WhatIsToBeDoneAgainIsDoneByASeatThatIsPreparedAnew) {
  std::map<int, int> prepared;
  Crew crew({.seats = 1, .prepare = [&](int seat) { return ++prepared[seat] > 0; }, .leave = {}, .hurry = {}});
  int attempts = 0;
  crew.wait(crew.begin([&] { return ++attempts < 3 ? Crew::End::kAgain : Crew::End::kDone; }));
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(prepared[0], 3);
}

TEST(Crew, SeatsThatGetNoMachineLeaveTheWorkToOthersAndTheLastOneTakesIt) {
  std::set<int> worked;
  int left = 0;
  Crew crew({.seats = 3, .prepare = [](int) { return false; }, .leave = [&](int) { ++left; }, .hurry = {}});
  for (int i = 0; i < 5; ++i) {
    crew.wait(crew.begin([&] {
      worked.insert(crew.seat());
      return Crew::End::kDone;
    }));
  }
  EXPECT_EQ(worked.size(), 1U);
  EXPECT_EQ(left, 2);
}

TEST(Crew, WhatIsNotBegunCanBeDropped) {
  Crew crew({.seats = 2});
  bring_up_all(crew);
  PassingTime time(crew.baton());
  int begun = 0;
  for (int i = 0; i < 10; ++i) {
    crew.begin([&] {
      ++begun;
      time.pass(5);
      return Crew::End::kAgain;  // which nobody does any more
    });
  }
  time.pass(1);
  crew.clear();
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(time.now(), 5);
}

TEST(Crew, OneSeatIsLeftWhenTheOthersAreDismissed) {
  std::set<int> left;
  Crew crew({.seats = 4, .prepare = {}, .leave = [&](int seat) { left.insert(seat); }, .hurry = {}});
  bring_up_all(crew);
  crew.dismiss();
  EXPECT_EQ(left, (std::set<int>{1, 2, 3}));
  int seat = -1;
  crew.run([&] {
    seat = crew.seat();
    return Crew::End::kDone;
  });
  EXPECT_EQ(seat, 0);
}

TEST(Crew, ASeatThatWaitsForAMachineIsHurriedAtTheEnd) {
  std::mutex mutex;
  std::condition_variable changed;
  bool hurried = false;
  {
    Crew* self = nullptr;
    Crew crew({.seats = 2,
               .prepare =
                   [&](int seat) {
                     if (seat == 0) return true;
                     const Waiting others(&self->baton());
                     std::unique_lock lock(mutex);
                     changed.wait(lock, [&] { return hurried; });
                     return false;
                   },
               .leave = {},
               .hurry =
                   [&](int) {
                     const std::unique_lock lock(mutex);
                     hurried = true;
                     changed.notify_all();
                   }});
    self = &crew;
    crew.wait(crew.begin([] { return Crew::End::kDone; }));
  }
  SUCCEED();  // that it ends is what is tested
}

}  // namespace
}  // namespace fiel
