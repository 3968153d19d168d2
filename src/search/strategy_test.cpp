#include "search/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "route/test_space.h"

namespace fiel {
namespace {

using ::testing::IsSupersetOf;
using Judge = std::function<Trial(const BuildRoute&)>;

Trial admissible(const BuildRoute& route, double speedup) {
  return {route, Trial::Outcome::kAdmissibleSoFar, std::log(speedup)};
}

Trial equally_fast(const BuildRoute& route) { return admissible(route, 1.0); }

std::unique_ptr<Strategy> make(std::string_view name, const Space& space, std::uint64_t seed = 1,
                               const BuildRoute& baseline = {"alpha", {}}) {
  auto strategy = make_strategy(name, space, baseline, seed);
  EXPECT_TRUE(strategy);
  return *std::move(strategy);
}

std::vector<std::string> run(Strategy& strategy, const Judge& judge, std::size_t most = 10'000) {
  std::vector<std::string> asked;
  while (asked.size() < most) {
    const auto route = strategy.ask();
    if (!route) break;
    asked.push_back(to_string(*route));
    strategy.tell(judge(*route));
  }
  return asked;
}

using Texts = std::vector<std::string>;

Space wide_space(int knobs) {
  EngineSpace engine{.engine = "alpha", .knobs = {}, .forbidden = {}};
  for (int i = 0; i < knobs; ++i) {
    engine.knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1", "2"}));
  }
  return *Space::create({engine});
}

// 8 bits with other ranges: tried after everything else, and only where 8 bits pay.
Texts asked_with_stand_ins(const Judge& judge) {
  Knob variant = example_knob("variant", {"float32", "int8", "int8_mse", "fp16"});
  variant.stand_ins["int8_mse"] = "int8";
  const Space space = *Space::create({{.engine = "alpha", .knobs = {variant, example_knob("streams", {"1", "2"})}, .forbidden = {}}});
  return run(*make("mixed", space), judge);
}

TEST(Mixed, AValueThatStandsInForAnotherComesLastAndOnlyWhereThatOnePays) {
  const auto faster = [](const BuildRoute& route) { return admissible(route, route.settings.empty() ? 1.0 : 1.2); };
  const Texts asked = asked_with_stand_ins(faster);
  EXPECT_EQ((Texts{asked.begin(), asked.begin() + 5}),
            (Texts{"engine=alpha", "engine=alpha variant=int8", "engine=alpha streams=2", "engine=alpha variant=fp16",
                   "engine=alpha variant=int8_mse"}));
  // Int8 is accurate so far: its stand-in takes no part in combinations.
  EXPECT_EQ(std::ranges::count(asked, "engine=alpha streams=2 variant=int8_mse"), 0);
  EXPECT_EQ(std::ranges::count(asked, "engine=alpha streams=2 variant=int8"), 1);
  EXPECT_EQ(std::ranges::count(asked_with_stand_ins(equally_fast), "engine=alpha variant=int8_mse"), 0);
}

TEST(Mixed, AStandInTakesOverWhereTheOtherWasRejected) {
  const Texts asked = asked_with_stand_ins([](const BuildRoute& route) {
    const auto variant = route.settings.find("variant");
    if (variant != route.settings.end() && variant->second == "int8") return Trial{route, Trial::Outcome::kRejected, {}};
    return admissible(route, route.settings.empty() ? 1.0 : 1.2);
  });
  EXPECT_EQ(std::ranges::count(asked, "engine=alpha streams=2 variant=int8_mse"), 1);
}

// A knob that counts only beside other values is turned beside the fastest of these that is admissible.
TEST(Mixed, AKnobThatCountsOnlyBesideAValueIsTurnedBesideTheFastestSuchValue) {
  const Knob variant = example_knob("variant", {"float32", "int8", "step_2", "step_3"});
  Knob again = example_knob("again", {"none", "1", "2"});
  again.only_if = {{.knob = "variant", .values = {"step_2", "step_3"}}};
  const Space space = *Space::create({{.engine = "alpha", .knobs = {variant, again}, .forbidden = {}}});
  const auto speed = [](double of_2) {
    return [of_2](const BuildRoute& route) {
      const auto set = route.settings.find("variant");
      const std::string value = set == route.settings.end() ? "" : set->second;
      if (value == "int8") return Trial{route, Trial::Outcome::kRejected, {}};
      return admissible(route, value == "step_2" ? of_2 : value == "step_3" ? 1.2 : 1.0);
    };
  };
  const Texts asked = run(*make("mixed", space), speed(1.3));
  EXPECT_EQ((Texts{asked.begin() + 4, asked.end()}), (Texts{"engine=alpha again=1 variant=step_2", "engine=alpha again=2 variant=step_2"}));
  const Texts other = run(*make("mixed", space), speed(1.1));
  EXPECT_EQ(other.at(4), "engine=alpha again=1 variant=step_3");
}

TEST(Strategy, EveryOneAsksValidCanonicalRoutesAndNoneTwice) {
  const Space space = example_space();
  const Judge judge = [](const BuildRoute& route) {
    return admissible(route, route.settings.empty() ? 1.0 : 1.1);
  };
  for (const auto name : strategy_names()) {
    auto strategy = make(name, space);
    EXPECT_EQ(strategy->name(), name);
    std::set<std::string> seen;
    while (const auto route = strategy->ask()) {
      EXPECT_TRUE(space.validate(*route)) << name << ": " << to_string(*route);
      EXPECT_EQ(space.canonical(*route), *route);
      EXPECT_TRUE(seen.insert(to_string(*route)).second) << name << ": " << to_string(*route);
      strategy->tell(judge(*route));
    }
    EXPECT_FALSE(strategy->ask()) << name;
    EXPECT_EQ(strategy->planned(), 0.0) << name;
  }
}

TEST(Strategy, TheSameSeedAndAnswersGiveTheSameQuestions) {
  const Space space = wide_space(6);
  for (const auto name : strategy_names()) {
    auto one = make(name, space, 7), two = make(name, space, 7);
    EXPECT_EQ(run(*one, equally_fast, 200), run(*two, equally_fast, 200)) << name;
  }
  auto one = make("random", space, 7), other = make("random", space, 8);
  EXPECT_NE(run(*one, equally_fast, 50), run(*other, equally_fast, 50));
}

TEST(Strategy, AnotherNameIsAnError) {
  const auto strategy = make_strategy("mixd", example_space(), {"alpha", {}}, 1);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().hint, "did you mean 'mixed'?");
}

TEST(Full, WalksTheWholeSpaceInItsOrder) {
  const Space space = example_space();
  Texts all;
  space.enumerate([&](const BuildRoute& route) {
    all.push_back(to_string(route));
    return true;
  });
  auto full = make("full", space);
  EXPECT_EQ(full->planned(), 24.0);
  EXPECT_EQ(run(*full, equally_fast), all);
}

TEST(Fast, AsksTheStartsThenTheirChangesInTurns) {
  auto fast = make("fast", example_space(), 1, {"beta", {{"level", "all"}}});
  EXPECT_EQ(fast->planned(), 3.0 + 6.0);
  EXPECT_EQ(
      run(*fast, equally_fast),
      (Texts{"engine=beta level=all", "engine=alpha", "engine=beta", "engine=alpha streams=2",
             "engine=beta level=all variant=int4", "engine=alpha variant=int8", "engine=alpha shape=static",
             "engine=alpha cache=on", "engine=alpha streams=4"}));
}

TEST(Fast, StartsFromTheNearestRouteOfARestrictedSpace) {
  const auto space = restrict_space(example_space(), "streams=[2|4] engine=alpha");
  ASSERT_TRUE(space);
  auto fast = make("fast", *space);
  EXPECT_EQ(run(*fast, equally_fast), (Texts{"engine=alpha streams=2", "engine=alpha streams=4"}));
}

TEST(Random, AsksEveryRouteOnceInAnOrderOfItsOwn) {
  const Space space = example_space();
  auto random = make("random", space), full = make("full", space);
  const auto asked = run(*random, equally_fast), walked = run(*full, equally_fast);
  EXPECT_EQ(std::set<std::string>(asked.begin(), asked.end()),
            std::set<std::string>(walked.begin(), walked.end()));
  EXPECT_NE(asked, walked);
}

TEST(Random, DrawsFromSpacesThatNobodyCouldList) {
  auto random = make("random", wide_space(40));
  const auto asked = run(*random, equally_fast, 500);
  EXPECT_EQ(std::set<std::string>(asked.begin(), asked.end()).size(), 500u);
  EXPECT_EQ(random->planned(), std::pow(3.0, 40) - 500);
}

// streams=2 gains 10 %, variant=int8 30 %, cache=on 0.5 % (too little), shape=static is rejected.
Trial with_two_good_knobs(const BuildRoute& route) {
  double speedup = 1.0;
  if (route.settings.contains("streams"))
    speedup *= route.settings.at("streams") == "2" ? 1.1 : 0.9;
  if (route.settings.contains("variant")) speedup *= 1.3;
  if (route.settings.contains("cache")) speedup *= 1.005;
  if (route.settings.contains("shape")) {
    return {route, Trial::Outcome::kRejected, std::log(2 * speedup)};
  }
  return admissible(route, speedup);
}

TEST(Mixed, AddsTheProductOfWhatHelped) {
  const auto alone = Space::create({*example_space().find_engine("alpha")});
  auto mixed = make("mixed", *alone);
  EXPECT_FALSE(mixed->planned());  // depends on what it will be told
  const auto asked = run(*mixed, with_two_good_knobs);
  EXPECT_EQ(asked, (Texts{"engine=alpha", "engine=alpha streams=2",
                          "engine=alpha variant=int8", "engine=alpha shape=static",
                          "engine=alpha cache=on", "engine=alpha streams=4", "engine=alpha streams=2 variant=int8"}));
}

TEST(Mixed, TheFasterStartsChangesComeFirst) {
  const Space space = example_space();
  const Texts asked = run(*make("mixed", space), [](const BuildRoute& route) { return admissible(route, route.engine == "beta" ? 2.0 : 1.0); });
  EXPECT_EQ((Texts{asked.begin(), asked.begin() + 5}),
            (Texts{"engine=alpha", "engine=beta", "engine=beta level=all", "engine=alpha streams=2", "engine=beta variant=int4"}));
}

TEST(Mixed, BestLookingProductsComeFirst) {
  const Space space = wide_space(3);
  auto mixed = make("mixed", space);
  const auto asked = run(*mixed, [](const BuildRoute& route) {
    double speedup = 1.0;
    for (const auto& [knob, value] : route.settings) {
      if (knob == "k0") speedup *= value == "1" ? 1.2 : 1.5;
      if (knob == "k1") speedup *= value == "1" ? 1.3 : 0.8;
      if (knob == "k2") speedup *= value == "1" ? 0.7 : 1.02;
    }
    return admissible(route, speedup);
  });
  ASSERT_EQ(asked.size(), 7u + 7u);
  EXPECT_EQ(asked[7], "engine=alpha k0=2 k1=1 k2=2");
  EXPECT_EQ(asked[8], "engine=alpha k0=2 k1=1");
  EXPECT_EQ(asked[9], "engine=alpha k0=1 k1=1 k2=2");
  EXPECT_EQ(asked[10], "engine=alpha k0=1 k1=1");
  EXPECT_EQ(asked[11], "engine=alpha k0=2 k2=2");
}

TEST(Mixed, NothingThatWasRejectedOrFailedEntersTheProduct) {
  for (const auto outcome : {Trial::Outcome::kRejected, Trial::Outcome::kFailed}) {
    auto mixed = make("mixed", wide_space(3));
    const auto asked = run(*mixed, [&](const BuildRoute& route) {
      if (route.settings.empty()) return admissible(route, 1.0);
      return Trial{route, outcome, std::log(2.0)};
    });
    EXPECT_EQ(asked.size(), 7u);
  }
}

TEST(Mixed, ATrialWithoutATimeHelpsNothing) {
  auto mixed = make("mixed", wide_space(2));
  const auto asked = run(*mixed, [](const BuildRoute& route) {
    return Trial{route, Trial::Outcome::kAdmissibleSoFar, std::nullopt};
  });
  EXPECT_EQ(asked.size(), 5u);
}

// The engine's default is too imprecise: everything is rejected unless k0=1 mends it, at a price.
TEST(Mixed, AStartThatIsNotAdmissibleIsReplacedByItsBestChange) {
  auto mixed = make("mixed", wide_space(4));
  const auto asked = run(*mixed, [](const BuildRoute& route) {
    double speedup = 1.5;
    if (route.settings.contains("k1")) speedup *= 1.2;
    if (route.settings.contains("k2")) speedup *= 1.1;
    if (!route.settings.contains("k0")) {
      return Trial{route, Trial::Outcome::kRejected, std::log(speedup)};
    }
    return admissible(route, speedup / (route.settings.at("k0") == "1" ? 1.5 : 2.0));
  });
  EXPECT_EQ(asked[9], "engine=alpha k0=1 k1=1");
  const std::set<std::string> seen(asked.begin(), asked.end());
  EXPECT_TRUE(seen.contains("engine=alpha k0=1 k1=1 k2=2"));
  EXPECT_FALSE(seen.contains("engine=alpha k1=1 k2=1"));
}

TEST(Mixed, TheBetterEnginesProductsComeFirst) {
  EngineSpace alpha{"alpha", {example_knob("x", {"0", "1"}), example_knob("y", {"0", "1"})}, {}};
  EngineSpace beta = alpha;
  beta.engine = "beta";
  auto mixed = make("mixed", *Space::create({alpha, beta}));
  const auto asked = run(*mixed, [](const BuildRoute& route) {
    const double start = route.engine == "beta" ? 1.4 : 1.0;
    return admissible(route, start * std::pow(1.1, static_cast<double>(route.settings.size())));
  });
  EXPECT_EQ(asked.size(), 8u);
  EXPECT_EQ(asked[6], "engine=beta x=1 y=1");
  EXPECT_EQ(asked[7], "engine=alpha x=1 y=1");
}

TEST(Auto, KnowsWhichRoutesWereDrawnUniformlyAndATenthAre) {
  const Space space = wide_space(9);
  const auto strategy = make("auto", space);
  const auto steep = [](const BuildRoute& route) { return admissible(route, 1.0 + static_cast<double>(route.settings.size())); };
  const Texts asked = run(*strategy, steep, 120);
  const UniformDraws draws = strategy->uniform_draws();
  EXPECT_GE(draws.asked.size(), 11u);  // every tenth question after the start
  EXPECT_LT(draws.asked.size(), 40u);
  EXPECT_EQ(draws.put_off, 0);
  double settings = 0;
  for (const BuildRoute& route : draws.asked) {
    EXPECT_NE(std::ranges::find(asked, to_string(route)), asked.end());
    settings += static_cast<double>(route.settings.size()) / static_cast<double>(draws.asked.size());
  }
  EXPECT_NEAR(settings, 6.0, 1.2);  // of nine knobs two thirds stand elsewhere by chance; the model goes to nine
}

TEST(Random, DrawsAllUniformlyAndSweepsNone) {
  const Space space = example_space();
  const auto random = make("random", space), fast = make("fast", space);
  run(*random, equally_fast, 7);
  run(*fast, equally_fast, 7);
  EXPECT_EQ(random->uniform_draws().asked.size(), 7u);
  EXPECT_TRUE(fast->uniform_draws().asked.empty());
}

TEST(Auto, LeavesNothingOut) {
  auto small = make("auto", example_space());
  EXPECT_EQ(small->planned(), 24.0);
  EXPECT_EQ(run(*small, equally_fast).size(), 24u);
  auto large = make("auto", wide_space(5));
  EXPECT_EQ(run(*large, equally_fast).size(), 243u);
}

TEST(Auto, BeginsWithTheStartsAndTakesOneOffsInTurnWhereChanceFindsNothingBetter) {
  const Texts asked = run(*make("auto", wide_space(20)), [](const BuildRoute& route) {
    return admissible(route, std::pow(0.95, static_cast<double>(route.settings.size())));
  }, 44);
  EXPECT_EQ(asked[0], "engine=alpha");
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(std::ranges::count(asked, "engine=alpha k" + std::to_string(i) + "=1"), 1) << i;
  }
}

std::int64_t share_with(const Texts& asked, std::size_t from, std::string_view word) {
  return std::count_if(asked.begin() + static_cast<std::ptrdiff_t>(from), asked.end(),
                       [&](const std::string& text) { return text.find(word) != std::string::npos; });
}

// Two thirds of all routes hold k1=1 or k1=2; the better-looking one is never admissible, or fails.
TEST(Auto, UsesWhatFailedOrWasRejectedBeforeItsNeighboursAreBuilt) {
  for (const auto outcome : {Trial::Outcome::kRejected, Trial::Outcome::kFailed}) {
    const Texts asked = run(*make("auto", wide_space(10)), [&](const BuildRoute& route) {
      const auto found = route.settings.find("k1");
      const double speedup = std::pow(1.02, static_cast<double>(route.settings.size()));
      if (found != route.settings.end() && found->second == "2") {
        return Trial{.route = route, .outcome = outcome, .log_speedup = outcome == Trial::Outcome::kFailed ? std::optional<double>{} : std::log(3 * speedup)};
      }
      return admissible(route, speedup);
    }, 100);
    EXPECT_LE(share_with(asked, 50, "k1=2"), 11) << static_cast<int>(outcome);  // 17 by chance, of which five are drawn so
  }
}

TEST(Auto, PrefersWhatIsCheaperToTry) {
  const auto dear_share = [](double seconds) {
    return share_with(run(*make("auto", wide_space(8)), [&](const BuildRoute& route) {
      Trial trial = admissible(route, std::pow(1.05, static_cast<double>(route.settings.size())));
      trial.seconds = route.settings.contains("k0") ? seconds : 1.0;
      return trial;
    }, 60), 10, "k0=");
  };
  EXPECT_LT(dear_share(100.0), dear_share(1.0));
}

Knob variants_and_ladder() {
  Knob variant = example_knob("variant", {"float32", "int8", "whole", "but_1", "but_2", "but_3", "but_4", "but_5", "but_6", "fp16"});
  variant.kind = KnobKind::kVariant;
  variant.ladders = {{"int8", "but_1", "but_2", "but_3", "but_4", "but_5", "but_6"}};
  for (std::size_t i = 1; i < variant.ladders[0].size(); ++i) variant.stand_ins[variant.ladders[0][i]] = "int8";
  return variant;
}

Space space_of_variants() {
  std::vector<EngineSpace> engines;
  for (const char* name : {"alpha", "beta"}) {
    EngineSpace engine{.engine = name, .knobs = {}, .forbidden = {}};
    for (int i = 0; i < 20; ++i) engine.knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1", "2"}));
    engine.knobs.push_back(variants_and_ladder());
    engines.push_back(std::move(engine));
  }
  return *Space::create(engines);
}

// One variant says little of another, and what is fastest with one engine is not with the other.
TEST(Auto, AsksEachVariantOfTheModelOnEachEngineBeforeOtherKnobs) {
  const Texts asked = run(*make("auto", space_of_variants()), [](const BuildRoute& route) {
    return admissible(route, std::pow(0.95, static_cast<double>(route.settings.size())));
  }, 20);
  for (const char* engine : {"alpha", "beta"}) {
    for (const char* value : {"int8", "whole", "fp16"}) {
      EXPECT_EQ(std::ranges::count(asked, std::string("engine=") + engine + " variant=" + value), 1) << engine << ' ' << value;
    }
  }
}

TEST(Auto, HalvesALadderWhoseFirstStepIsNotAccurateEnough) {
  const auto asked_steps = [](int first_accurate) {
    Texts steps;
    const Texts asked = run(*make("auto", space_of_variants()), [&](const BuildRoute& route) {
      const auto set = route.settings.find("variant");
      const std::string value = set == route.settings.end() ? "" : set->second;
      Trial trial = admissible(route, std::pow(0.95, static_cast<double>(route.settings.size())));
      const bool on_ladder = value == "int8" || value.starts_with("but_");
      if (on_ladder && (value == "int8" ? 0 : value[4] - '0') < first_accurate) trial.outcome = Trial::Outcome::kRejected;
      return trial;
    }, 40);
    for (const std::string& text : asked) {
      if (text.starts_with("engine=beta variant=but_")) steps.push_back(text.substr(text.size() - 5));
    }
    return steps;
  };
  EXPECT_EQ(asked_steps(0), Texts{});
  EXPECT_EQ(asked_steps(1), (Texts{"but_3", "but_1"}));
  EXPECT_EQ(asked_steps(5), (Texts{"but_3", "but_5", "but_4"}));
  EXPECT_EQ(asked_steps(7), (Texts{"but_3", "but_5", "but_6"}));
}

// Seen on digits and captchas: all in 8 bits was fastest, lost too little on tuning data to be rejected there and too much on the hold-out;
// no step between it and float32 had been asked.
TEST(Auto, AsksForWhatTheProofCanFallBackUponWhereAVariantPays) {
  const auto asked_steps = [](double speedup, int first_accurate) {
    Texts steps;
    const Texts asked = run(*make("auto", space_of_variants()), [&](const BuildRoute& route) {
      const auto set = route.settings.find("variant");
      const std::string value = set == route.settings.end() ? "" : set->second;
      const bool on_ladder = value == "int8" || value.starts_with("but_");
      Trial trial = admissible(route, (on_ladder && route.engine == "beta" ? speedup : 1) * std::pow(0.95, static_cast<double>(route.settings.size())));
      if (on_ladder && (value == "int8" ? 0 : value[4] - '0') < first_accurate) trial.outcome = Trial::Outcome::kRejected;
      return trial;
    }, 40);
    for (const std::string& text : asked) {
      if (text.starts_with("engine=beta variant=but_")) steps.push_back(text.substr(text.size() - 5));
    }
    return steps;
  };
  const Texts pays = asked_steps(1.5, 0);
  ASSERT_GE(pays.size(), 2u);
  EXPECT_EQ((Texts{pays[0], pays[1]}), (Texts{"but_1", "but_3"}));
  EXPECT_THAT(asked_steps(1.5, 5), IsSupersetOf({"but_4", "but_5", "but_6"}));
}

TEST(Auto, AStandInWaitsForWhatItStandsInFor) {
  Knob variant = example_knob("variant", {"float32", "int8", "int8_mse"});
  variant.stand_ins["int8_mse"] = "int8";
  EngineSpace engine{.engine = "alpha", .knobs = {variant}, .forbidden = {}};
  for (int i = 0; i < 8; ++i) engine.knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1"}));
  const Space space = *Space::create({engine});
  const auto judge = [](Trial::Outcome int8) {
    return [int8](const BuildRoute& route) {
      Trial trial = admissible(route, 1.0 - 0.01 * static_cast<double>(route.settings.size()));
      const auto found = route.settings.find("variant");
      if (found != route.settings.end() && found->second == "int8") trial.outcome = int8;
      return trial;
    };
  };
  EXPECT_EQ(share_with(run(*make("auto", space), judge(Trial::Outcome::kAdmissibleSoFar), 100), 0, "int8_mse"), 0);
  const Texts asked = run(*make("auto", space), judge(Trial::Outcome::kRejected), 100);
  std::set<std::string> seen;
  for (std::string text : asked) {
    seen.insert(text);
    const auto at = text.find("int8_mse");
    if (at == std::string::npos) continue;
    text.erase(at + 4, 4);
    EXPECT_TRUE(seen.contains(text)) << text;
  }
  EXPECT_GT(share_with(asked, 0, "int8_mse"), 0);
}

// In every ten questions one is drawn by chance, whatever the model thinks.
TEST(Auto, DrawsOneOfEachTenQuestionsByChance) {
  const auto strategy = make("auto", wide_space(9));
  std::size_t before = 0;
  for (int tens = 1; tens <= 15; ++tens) {
    run(*strategy, [](const BuildRoute& route) { return admissible(route, 1.0 + static_cast<double>(route.settings.size())); }, 10);
    const std::size_t drawn = strategy->uniform_draws().asked.size();
    EXPECT_GT(drawn, before) << tens;
    before = drawn;
  }
}

// Pairs of (knob, value) that some route among these held; defaults count as values.
std::size_t pairs_seen(const Space& space, const std::vector<BuildRoute>& routes) {
  std::set<std::string> seen;
  const auto value = [](const Knob& knob, const BuildRoute& route) {
    const auto set = route.settings.find(knob.name);
    return set == route.settings.end() ? knob.default_value : set->second;
  };
  for (const BuildRoute& route : routes) {
    const auto& knobs = space.find_engine(route.engine)->knobs;
    for (std::size_t a = 0; a < knobs.size(); ++a) {
      for (std::size_t b = a + 1; b < knobs.size(); ++b) {
        seen.insert(knobs[a].name + value(knobs[a], route) + " " + knobs[b].name + value(knobs[b], route));
      }
    }
  }
  return seen.size();
}

// The model likes one corner; all the same each pair of levels is seen: of ten knobs of two values 4 x 45, of six of three 9 x 15.
TEST(Auto, SeesEachPairOfLevels) {
  EngineSpace binary{.engine = "alpha", .knobs = {}, .forbidden = {}};
  for (int i = 0; i < 10; ++i) binary.knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1"}));
  struct Case {
    Space space;
    std::size_t questions, pairs;
  };
  for (const Case& one : {Case{*Space::create({binary}), 40, 180}, Case{wide_space(6), 100, 135}}) {
    const auto strategy = make("auto", one.space);
    std::vector<BuildRoute> asked;
    while (asked.size() < one.questions) {
      asked.push_back(*strategy->ask());
      strategy->tell(admissible(asked.back(), std::pow(0.7, static_cast<double>(asked.back().settings.size()))));
    }
    EXPECT_EQ(pairs_seen(one.space, asked), one.pairs) << one.questions;
  }
}

// A hill that leads to 1.6, and beyond a valley of five knobs another one to 2.9.
TEST(Auto, LeavesAHillThatLeadsNowhere) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    double best = 0;
    run(*make("auto", wide_space(9), seed), [&](const BuildRoute& route) {
      const auto count = [&](const char* value) { return static_cast<double>(std::ranges::count_if(route.settings, [&](const auto& set) { return set.second == value; })); };
      const double log_speedup = std::max(0.05 * count("1"), count("2") >= 5 ? 0.12 * count("2") : 0.0);
      best = std::max(best, log_speedup);
      return admissible(route, std::exp(log_speedup));
    }, 150);
    EXPECT_GT(best, 0.9) << seed;
  }
}

// What int8 does to accuracy on one engine is expected of it on the other, before it is built there.
TEST(Auto, SharesWhatIsKnownOfAccuracyAmongEngines) {
  const auto asked_on_beta = [](Trial::Outcome int8) {
    std::vector<EngineSpace> engines;
    for (const char* name : {"alpha", "beta"}) {
      EngineSpace engine{.engine = name, .knobs = {example_knob("variant", {"float32", "int8"})}, .forbidden = {}};
      for (int i = 0; i < 6; ++i) engine.knobs.push_back(example_knob("k" + std::to_string(i), {"0", "1", "2"}));
      engines.push_back(std::move(engine));
    }
    const auto strategy = make("auto", *Space::create(std::move(engines)));
    const Judge judge = [&](const BuildRoute& route) {
      const bool is_int8 = route.settings.contains("variant");
      Trial trial = admissible(route, (is_int8 ? 2.0 : 1.0) * (1 + 0.01 * static_cast<double>(route.settings.size())));
      if (is_int8) trial.outcome = int8;
      return trial;
    };
    for (int i = 0; i < 24; ++i) {  // known from before
      BuildRoute route{.engine = "alpha", .settings = {{"k" + std::to_string(i % 6), i % 4 < 2 ? "1" : "2"}}};
      if (i >= 12) route.settings["variant"] = "int8";
      strategy->tell(judge(route));
    }
    const Texts asked = run(*strategy, judge, 40);
    return std::ranges::count_if(asked, [](const std::string& text) { return text.starts_with("engine=beta") && text.find("int8") != std::string::npos; });
  };
  EXPECT_LT(2 * asked_on_beta(Trial::Outcome::kRejected), asked_on_beta(Trial::Outcome::kAdmissibleSoFar));
}

TEST(Program, ProposesAndIsToldAndWhatItRepeatsIsAskedOnce) {
  const auto strategy = make("program:while read line; do case $line in *ask*) echo '{\"engine\": \"beta\", \"settings\": {\"level\": \"all\"}}';; esac; done",
                             example_space());
  const Texts asked = run(*strategy, equally_fast, 3);
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0], "engine=beta level=all");
  EXPECT_EQ(std::ranges::count(asked, asked[0]), 1);  // the others are drawn by chance
  EXPECT_TRUE(strategy->trouble());
}

TEST(Program, ItsWishToEndIsAnEndAndItsDeathIsTrouble) {
  const auto done = make("program:read line; read line; echo '{\"end\": true}'; sleep 1", example_space());
  EXPECT_FALSE(done->ask());
  EXPECT_TRUE(done->trouble());
  for (const char* command : {"program:exit 3", "program:echo no JSON; sleep 1", "program:echo '{\"knob\": 1}'; sleep 1"}) {
    const auto broken = make(command, example_space());
    EXPECT_FALSE(broken->ask()) << command;
    ASSERT_FALSE(broken->trouble()) << command;
    EXPECT_FALSE(broken->trouble().error().message.empty());
  }
}

}  // namespace
}  // namespace fiel
