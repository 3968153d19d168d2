#include "report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "report/golden.h"
#include "report/test_run.h"

namespace fiel {
namespace {

Json document_of(void (*story)(const std::filesystem::path&)) {
  const TestFolder folder;
  story(folder.path());
  RunView view = read_run(folder.path()).value();
  view.folder = "run";
  return format_json(view);
}

const std::filesystem::path kPage = std::filesystem::path(FIEL_SOURCE_DIR) / "docs" / "result.md";
constexpr std::string_view kOpen = "```json\n";
constexpr std::string_view kClose = "\n```\n";

std::string page_text() {
  std::ostringstream text;
  text << std::ifstream(kPage).rdbuf();
  return text.str();
}

void collect_keys(const Json& json, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) collect_keys(value, keys);
  }
}

// Of the improved run: the winner, and one that failed; the page need not show all nine.
Json example() {
  Json json = document_of(write_improved);
  json["candidates"] = Json::array({json["candidates"][3], json["candidates"][6]});
  return json;
}

TEST(Json, TheExampleOfThePageIsTheDocument) {
  std::string page = page_text();
  const auto open = page.find(kOpen), close = page.find(kClose, open);
  ASSERT_NE(open, std::string::npos);
  ASSERT_NE(close, std::string::npos);
  const auto begin = open + kOpen.size();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    page.replace(begin, close - begin, example().dump(1));
    std::ofstream(kPage) << page;
    return;
  }
  const auto shown = parse_json(std::string_view(page).substr(begin, close - begin));
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_TRUE(nearly_equal(example(), *shown))
      << Json::diff(*shown, example()).dump(1) << "\nUPDATE_GOLDEN=1 refreshes docs/result.md";
}

TEST(Json, ThePageExplainsEveryKey) {
  std::string page = page_text();
  page.erase(page.find(kOpen), page.find(kClose) - page.find(kOpen));
  std::set<std::string> keys;
  Json document = example();
  document.erase("environment");  // the page refers to the event for these
  for (Json& candidate : document["candidates"]) {
    for (const char* open_map : {"settings", "environment", "accuracy", "consistency", "failure"}) candidate[open_map] = nullptr;
    for (const char* open_map : {"settings", "precisions", "placement"}) candidate["effective"][open_map] = nullptr;
  }
  document["budget"]["seconds_by_phase"] = nullptr;
  collect_keys(document, keys);
  EXPECT_GT(keys.size(), 50U);
  for (const std::string& key : keys) EXPECT_THAT(page, ::testing::HasSubstr("`" + key + "`"));
}

std::set<std::string> own_keys(const Json& json) {
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  return keys;
}

TEST(Json, HasTheSameKeysWhateverTheVerdict) {
  const auto expected = own_keys(document_of(write_improved));
  for (const auto story : {write_not_improved, write_undecided, write_infeasible, write_unfinished}) {
    EXPECT_EQ(own_keys(document_of(story)), expected);
  }
}

TEST(Json, SaysNullWhereThereIsNothingToSay) {
  const Json json = document_of(write_unfinished);
  EXPECT_TRUE(json["verdict"].is_null());
  EXPECT_EQ(json["stage"], "search");
  EXPECT_TRUE(json["winner"].is_null());
  EXPECT_TRUE(json["speedup"].is_null());
  const Json tail = document_of(write_improved)["candidates"][2]["latency_us"];
  EXPECT_TRUE(tail["p99"].is_null()) << "45 timings say nothing about one in a hundred";
}

TEST(Json, SurvivesARoundTripThroughText) {
  for (const auto story : {write_improved, write_not_improved, write_undecided, write_infeasible, write_unfinished}) {
    const Json json = document_of(story);
    EXPECT_EQ(parse_json(json.dump()).value(), json);
  }
}

TEST(Json, MatchesTheGoldenDocuments) {
  expect_golden_json("improved.json", document_of(write_improved));
  expect_golden_json("not_improved.json", document_of(write_not_improved));
}

}  // namespace
}  // namespace fiel
