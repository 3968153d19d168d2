#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "report/chart.h"
#include "report/html_parts.h"
#include "report/json.h"
#include "report/test_run.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(Story story) { return format_html(view_of(story)); }

// What a reader sees, without style and script.
std::string body_of(const std::string& page) {
  const auto begin = page.find("<body>"), end = page.find("<script");
  return page.substr(begin, end - begin);
}

// Between the ids of two sections.
std::string section_of(const std::string& page, std::string_view id) {
  const auto begin = page.find(fmt::format("<section id=\"{}\"", id));
  return begin == std::string::npos ? std::string() : page.substr(begin, page.find("</section>", begin) - begin);
}

// The name of the first tag that is closed wrongly; "" for markup in which each is closed in its turn.
std::string first_unbalanced(const std::string& markup) {
  std::vector<std::string> open;
  for (std::size_t at = markup.find('<'); at != std::string::npos; at = markup.find('<', at + 1)) {
    const auto end = markup.find('>', at);
    if (end == std::string::npos) return "unended";
    const std::string tag = markup.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" />", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag.back() == '/') continue;
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

std::set<std::string> all_of(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

const std::vector<Story> kStories = {write_improved, write_not_improved, write_undecided, write_infeasible, write_unfinished};

TEST(Html, IsWellFormedAndItsLinksLeadSomewhereWhateverTheVerdict) {
  for (const Story story : kStories) {
    const std::string body = body_of(page_of(story));
    EXPECT_EQ(first_unbalanced(body + "</body>"), "");
    const auto ids = all_of(body, " id=\"([^\"]+)\"");
    for (const std::string& target : all_of(body, "href=\"#([^\"]+)\"")) EXPECT_TRUE(ids.contains(target)) << target;
    for (const std::string& heading : all_of(body, "aria-labelledby=\"([^\"]+)\"")) EXPECT_TRUE(ids.contains(heading)) << heading;
  }
}

TEST(Html, AnswersInTheOrderInWhichPeopleAsk) {
  const std::string page = page_of(write_improved);
  std::size_t before = page.find("<h1>improved</h1>");
  ASSERT_NE(before, std::string::npos);
  for (const char* id : {"accuracy", "speed", "rejected", "tradeoff", "search", "machine", "candidates", "ground"}) {
    const auto at = page.find(fmt::format("<section id=\"{}\"", id));
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_GT(at, before) << id;
    before = at;
  }
}

TEST(Html, SaysWhatShipsAndHowSureWeAre) {
  const std::string page = page_of(write_improved);
  const std::string head = page.substr(0, page.find("<main"));
  EXPECT_THAT(head, HasSubstr("1.83 times as fast as the baseline (#2) [1.80, 1.87] (97.9 % interval, 10 sessions)"));
  EXPECT_THAT(head, HasSubstr("proven on 1000 hold-out samples"));
  EXPECT_THAT(head, HasSubstr("9 of 9 sessions won, E = 76.9 of the 40 needed"));
  EXPECT_THAT(head, HasSubstr("tested at 2.5 % error"));
  EXPECT_THAT(head, HasSubstr("<a href=\"#c4\">#4</a>"));
  EXPECT_THAT(head, HasSubstr("after 27,462 executions"));
}

TEST(Html, ShowsEverySessionBehindTheSpeedUp) {
  const std::string speed = section_of(page_of(write_improved), "speed");
  EXPECT_THAT(speed, HasSubstr("All 19 sessions of #4"));
  EXPECT_THAT(speed, HasSubstr("<td class=\"number\">1.7900</td><td>estimating</td>"));
  EXPECT_THAT(speed, HasSubstr("<td class=\"number\">1.8200</td><td>deciding</td><td>won</td>"));
  EXPECT_THAT(speed, HasSubstr("role=\"img\""));
}

TEST(Html, ShowsAccuracyWithItsBoundAgainstWhatIsAllowed) {
  const std::string accuracy = section_of(page_of(write_improved), "accuracy");
  EXPECT_THAT(accuracy, HasSubstr("#4 (ships) on the hold-out"));
  EXPECT_THAT(accuracy, HasSubstr("<td class=\"number\">0.0020</td><td class=\"number\">0.0087</td><td class=\"number\">0.0100</td>"));
  const std::string lost = section_of(page_of(write_undecided), "accuracy");
  EXPECT_THAT(lost, HasSubstr("#4 (not shipped) on the hold-out")) << "what was tried there is shown, though #2 ships";
}

TEST(Html, CrossesTheFastButWrongOnesOut) {
  const std::string rejected = section_of(page_of(write_improved), "rejected");
  EXPECT_THAT(rejected, HasSubstr("out of the comparison"));
  EXPECT_THAT(rejected, HasSubstr("<a href=\"#c5\">#5</a></th><td class=\"number\"><del>1.95</del>"));
  EXPECT_THAT(rejected, Not(HasSubstr("<del>1.84</del>"))) << "#4 is admissible";
}

TEST(Html, JoinsOnlyAdmissibleCandidatesToTheParetoLine) {
  const auto corners = [](const RunView& view) {
    const std::string part = tradeoff_part(view, Json::object()).markup();
    std::vector<std::int64_t> counts;
    for (const std::string& d : all_of(part, "<path class=\"line pareto\" d=\"([^\"]+)\"")) counts.push_back(std::ranges::count(d, 'L'));
    std::ranges::sort(counts);
    return counts;
  };
  RunView view = view_of(write_improved);
  const auto before = corners(view);
  ASSERT_EQ(before.size(), 2U) << "against accuracy, and against memory";
  EXPECT_GT(std::ranges::max(before), 0);
  view.candidates.at(5).margin_left = 0.99;  // the fastest, and now the best by its figures: still outside the contract
  view.candidates.at(5).peak_memory_bytes = 1;
  EXPECT_EQ(corners(view), before);
  view.candidates.at(5).status = "admissible";
  EXPECT_NE(corners(view), before);
}

TEST(Html, OpensEachCandidateToItsEvidenceAndTheCommandThatReproducesIt) {
  const std::string table = section_of(page_of(write_improved), "candidates");
  EXPECT_THAT(table, HasSubstr("fiel bench /models/contract.toml --route &#39;engine=openvino NUM_STREAMS=2&#39;"));
  EXPECT_THAT(table, HasSubstr("caught SIGSEGV"));
  EXPECT_THAT(table, HasSubstr("crash in build, signal 11"));
  for (int id = 1; id <= 9; ++id) EXPECT_THAT(table, HasSubstr(fmt::format("<tbody id=\"c{}\"", id)));
}

TEST(Html, SaysOfARunThatGoesOnWhatItHas) {
  const std::string page = page_of(write_unfinished);
  EXPECT_THAT(page, HasSubstr("<h1>no verdict yet</h1>"));
  EXPECT_THAT(page, HasSubstr("Nothing below is a claim."));
  EXPECT_THAT(page, HasSubstr("fiel resume"));
  EXPECT_THAT(section_of(page, "candidates"), HasSubstr("4 candidates"));
}

TEST(Html, LeadsNowhereElse) {
  for (const Story story : kStories) {
    const std::string page = page_of(story);
    for (const char* word : {"http://", "https://", " src=", "url(", "@import", "<link", "<iframe"}) {
      EXPECT_EQ(page.find(word), std::string::npos) << word;
    }
    EXPECT_THAT(page, HasSubstr("default-src &#39;none&#39;"));
  }
}

constexpr const char* kHostile = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\x1b[31m\xff";

void write_hostile(const std::filesystem::path& folder) {
  TestRun run(folder);
  run.begin({{"model", {{"path", "/models/" + std::string("<script>alert(0)</script>.onnx")}, {"digest", "<b>"}}},
             {"contract_file", "/models/it's <i>mine</i>.toml"}, {"strategy", "</p><h6>"}});
  write_anchors(run, Baseline::kAdmissible);
  run.candidate(3, {{"</code><script>alert(3)</script>", "'\"<>&"}});
  run.built(3, "<u>", {{"effective", {{"settings", {{"</dd>", "<script>"}}}, {"precisions", {{"<b>bf16", 3}}},
                                      {"ignored", Json::array({"<script>"})}}}});
  run.probed(3, 1.5);
  run.judged(3, "wrong", "</td><script>alert(4)</script>", 0.02);
  run.candidate(4, {{"NUM_STREAMS", "2"}});
  run.not_built(4, "crash", "<script>alert(5)</script>",
                {{"kind", "crash"}, {"phase", "<build>"}, {"log_tail", "</pre><script>alert(6)</script>"}});
}

TEST(Html, ShowsHostileNamesAndRunsNone) {
  const std::string page = page_of(write_hostile);
  EXPECT_THAT(escaped(kHostile), Not(::testing::AnyOf(HasSubstr("<"), HasSubstr(">"), HasSubstr("\""), HasSubstr("'"), HasSubstr("\xff"))));
  const auto scripts = all_of(page, "(<script[^>]*>)");
  EXPECT_EQ(scripts.size(), 1U);
  EXPECT_THAT(*scripts.begin(), HasSubstr("nonce="));
  EXPECT_EQ(first_unbalanced(body_of(page) + "</body>"), "");
  for (const char* tag : {"<i>", "<u>", "<b>", "</p><h6>", "<img", "alert(0)</script>"}) EXPECT_EQ(page.find(tag), std::string::npos) << tag;
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(0)&lt;/script&gt;.onnx")) << "it is shown as what it is";
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(6)"));
}

// As many as a long search leaves: a third failed with a long log, a third was wrong, a third is admissible.
RunView many_candidates(int count) {
  RunView view = view_of(write_improved);
  const std::vector<CandidateView> patterns = {view.candidates.at(7), view.candidates.at(5), view.candidates.at(4)};
  for (int id = static_cast<int>(view.candidates.size()) + 1; id <= count; ++id) {
    CandidateView candidate = patterns[static_cast<std::size_t>(id % 3)];
    candidate.id = id;
    candidate.digest = sha256_hex(std::to_string(id));
    candidate.route = fmt::format("engine=openvino INFERENCE_PRECISION_HINT=bf16 NUM_STREAMS={} ONEDNN_MAX_CPU_ISA=AVX2 shape=static "
                                  "variant=int8_percentile_99.99_smoothed", id);
    candidate.reproduce = fmt::format("fiel bench /models/contract.toml --route '{}'", candidate.route);
    if (candidate.screen_ratio) *candidate.screen_ratio += 0.0001 * id;
    candidate.tried_at_seconds = 0.1 * id;
    candidate.race_ratios.clear();  // it has sixteen at most
    if (!candidate.log_tail.empty()) candidate.log_tail.assign(3000, 'x');
    view.candidates[id] = std::move(candidate);
  }
  return view;
}

TEST(Html, StaysSmallWithTwoThousandCandidates) {
  const std::string page = format_html(many_candidates(2000));
  EXPECT_LT(page.size(), kMostPageBytes);
  EXPECT_THAT(page, HasSubstr("<tbody id=\"c2000\""));
  EXPECT_THAT(page, HasSubstr("NUM_STREAMS=1999 ")) << "each has its command";
  EXPECT_THAT(page, HasSubstr("shortened here"));
  EXPECT_EQ(first_unbalanced(body_of(page) + "</body>"), "");
}

TEST(Html, SaysThatPaperHasNotAllOfMany) {
  EXPECT_THAT(format_html(many_candidates(101)), HasSubstr("class=\"note on-paper\">The first 100 are printed"));
  EXPECT_THAT(format_html(many_candidates(100)), Not(HasSubstr("are printed")));
}

TEST(Html, KeepsAllEvidenceWhereThereIsRoom) {
  EXPECT_THAT(format_html(many_candidates(40)), HasSubstr(std::string(3000, 'x')));
}

TEST(Html, ShowsWhatTheDocumentSaysOfKnobsAndOfTheSearch) {
  const Json levels = Json::array({Json({{"value", "2"}, {"ratio", 1.4}, {"candidates", 9}, {"admissible", 0}}),
                                   Json({{"value", "default"}, {"ratio", 1.0}, {"candidates", 11}, {"admissible", 8}})});
  Json mattered = {{"engine", "openvino"}, {"candidates", 20}, {"too_little", nullptr}, {"unexplained", 0.1}};
  mattered["knobs"] = Json::array({Json({{"knob", "NUM_STREAMS"}, {"share", 0.62}, {"reference", "default"}, {"levels", levels}}),
                                     Json({{"knob", "PINNING"}, {"share", 0.004}, {"reference", "default"}, {"levels", levels}})});
  mattered["pairs"] = Json::array({Json({{"knobs", {"NUM_STREAMS", "shape"}}, {"share", 0.08}})});
  mattered["to_copy"] = Json::array({Json({{"knob", "shape"}, {"value", "static"}, {"ratio", 1.2}})});
  const Json too_few = {{"engine", "onnxruntime"}, {"too_little", "only 3 were timed"}};
  const std::string part = knobs_part({{"quality", {{"sentence", "at most 5 % of the space may be better"}}},
                                       {"what_mattered", Json::array({mattered, too_few})}}).markup();
  EXPECT_THAT(part, HasSubstr("<p>At most 5 % of the space may be better.</p>"));
  EXPECT_THAT(part, HasSubstr("NUM_STREAMS</th><td class=\"number\">62 %</td>"));
  EXPECT_THAT(part, HasSubstr("2 1.40x (none admissible), default 1.00"));
  EXPECT_THAT(part, HasSubstr("NUM_STREAMS with shape"));
  EXPECT_THAT(part, HasSubstr("Below half a percent each: PINNING."));
  EXPECT_THAT(part, HasSubstr("shape=static (1.20x)"));
  EXPECT_THAT(part, HasSubstr("only 3 were timed"));
  EXPECT_EQ(first_unbalanced(part), "");
  EXPECT_TRUE(knobs_part(Json::object()).is_empty());
}

TEST(Html, ListsTheParetoSetThatTheDocumentHas) {
  const RunView view = view_of(write_improved);
  Json document = format_json(view);
  document["pareto"] = {{"compared", 4}, {"points", Json::array({Json({{"id", 4}, {"ratio", 1.835}, {"sessions", 10}, {"margin_left", 0.6},
                                                                     {"peak_memory_bytes", 160432128}}),
                                                               Json({{"id", 2}, {"ratio", 1}, {"sessions", 0}, {"margin_left", 0.8},
                                                                     {"peak_memory_bytes", nullptr}})})}};
  EXPECT_THAT(tradeoff_part(view, document).markup(), HasSubstr("<td class=\"number\">153 MiB</td><td class=\"number\">60 %</td>"));
}

TEST(Chart, PutsItsTicksAtRoundNumbers) {
  EXPECT_THAT(nice_ticks({"", 0.9, 1.9}, 6), ElementsAre(1.0, ::testing::DoubleNear(1.2, 1e-9), ::testing::DoubleNear(1.4, 1e-9),
                                                       ::testing::DoubleNear(1.6, 1e-9), ::testing::DoubleNear(1.8, 1e-9)));
  EXPECT_THAT(nice_ticks({"", -120, 100}, 6), ElementsAre(-100, -50, 0, 50, 100));
}

TEST(Chart, TakesValuesThatAreAllTheSameOrNoNumbers) {
  const Axis same = axis_over("", {3, 3, 3});
  EXPECT_LT(same.low, 3);
  EXPECT_GT(same.high, 3);
  const Axis none = axis_over("", {std::nan(""), INFINITY});
  EXPECT_LT(none.low, none.high);
  Chart chart({"title", "description"}, none, same);
  chart.mark({std::nan(""), 1}, {}, "nowhere");
  EXPECT_THAT(chart.svg().markup(), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace fiel
