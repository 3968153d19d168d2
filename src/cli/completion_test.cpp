#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace fiel {
namespace {

using ::testing::HasSubstr;

class Completion : public ::testing::Test {
 protected:
  Completion() {
    CLI::App* tune = app_.add_subcommand("tune", "Find the fastest; it's [quick]: 5 min");
    tune->add_option("-o,--output", text_, "run folder");
    tune->add_option("--strategy", text_, "how")->check(CLI::IsMember({"auto", "full"}));
    tune->add_flag("--json", flag_, "one document");
    app_.add_subcommand("completion", "A script")->add_option("SHELL", text_, "which")->check(CLI::IsMember({"bash", "fish"}));
  }
  CLI::App app_{"", "fiel"};
  std::string text_;
  bool flag_ = false;
};

TEST_F(Completion, ForBashKnowsCommandsOptionsAndClosedSets) {
  const std::string script = completion_script(app_, Shell::kBash);
  EXPECT_THAT(script, HasSubstr("words=\"tune completion\""));
  EXPECT_THAT(script, HasSubstr("\"tune --strategy\") words=\"auto full\""));
  EXPECT_THAT(script, HasSubstr("\"tune --output\") words=\"\""));
  EXPECT_THAT(script, HasSubstr("tune) flags=\"-h --help -o --output --strategy --json\""));
  EXPECT_THAT(script, HasSubstr("completion) flags=\"-h --help\"; words=\"bash fish\""));
}

TEST_F(Completion, ForZshKeepsItsOwnSignsOutOfDescriptions) {
  const std::string script = completion_script(app_, Shell::kZsh);
  EXPECT_THAT(script, HasSubstr("'tune:Find the fastest; it'\\''s \\[quick\\]\\: 5 min'"));
  EXPECT_THAT(script, HasSubstr("'--strategy[how]:value:(auto full)'"));
  EXPECT_THAT(script, HasSubstr("'--output[run folder]:value:_files'"));
  EXPECT_THAT(script, HasSubstr("'--json[one document]'"));
}

TEST_F(Completion, ForFishHasALineForEachOption) {
  const std::string script = completion_script(app_, Shell::kFish);
  EXPECT_THAT(script, HasSubstr("-a tune -d 'Find the fastest; it\\'s [quick]: 5 min'"));
  EXPECT_THAT(script, HasSubstr("'__fish_seen_subcommand_from tune' -s o -l output -r -d 'run folder'"));
  EXPECT_THAT(script, HasSubstr("-l strategy -r -f -a 'auto full' -d 'how'"));
  EXPECT_THAT(script, HasSubstr("'__fish_seen_subcommand_from completion' -f -a 'bash fish'"));
}

}  // namespace
}  // namespace fiel
