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
    tune->add_option("CONTRACT", text_, "contract or model");
    app_.add_subcommand("completion", "A script")->add_option("SHELL", text_, "which")->check(CLI::IsMember({"bash", "fish"}));
    CLI::App* import = app_.add_subcommand("import", "Of another");
    import->add_option("FORM", text_, "its form")->check(CLI::IsMember({"cache"}));
    import->add_option("FILE", text_, "its file");
  }
  CLI::App app_{"", "fiel"};
  std::string text_;
  bool flag_ = false;
};

TEST_F(Completion, ForBashKnowsCommandsOptionsAndClosedSets) {
  const std::string script = completion_script(app_, Shell::kBash);
  EXPECT_THAT(script, HasSubstr("words=\"tune completion import\""));
  EXPECT_THAT(script, HasSubstr("\"tune --strategy\") words=\"auto full\""));
  EXPECT_THAT(script, HasSubstr("\"tune --output\") words=\"\""));
  EXPECT_THAT(script, HasSubstr("tune) flags=\"-h --help -o --output --strategy --json\""));
  EXPECT_THAT(script, HasSubstr("completion) flags=\"-h --help\"; words=\"bash fish\""));
}

TEST_F(Completion, ForZshKeepsItsOwnSignsOutOfDescriptions) {
  const std::string script = completion_script(app_, Shell::kZsh);
  EXPECT_THAT(script, HasSubstr("'tune:Find the fastest; it'\\''s \\[quick\\]\\: 5 min'"));
  EXPECT_THAT(script, HasSubstr("'--strategy=[how]:value:(auto full)'"));
  EXPECT_THAT(script, HasSubstr("'(-o --output)-o+[run folder]:value:_files' '(-o --output)--output=[run folder]:value:_files'"));
  EXPECT_THAT(script, HasSubstr("'--json[one document]'"));
  EXPECT_THAT(script, HasSubstr("'1:contract or model:_files' ;;"));
  EXPECT_THAT(script, HasSubstr("'1:its form:(cache)' '2:its file:_files' ;;"));
}

TEST_F(Completion, ForFishHasALineForEachOption) {
  const std::string script = completion_script(app_, Shell::kFish);
  EXPECT_THAT(script, HasSubstr("-a tune -d 'Find the fastest; it\\'s [quick]: 5 min'"));
  EXPECT_THAT(script, HasSubstr("'__fish_seen_subcommand_from tune' -s o -l output -r -d 'run folder'"));
  EXPECT_THAT(script, HasSubstr("-l strategy -r -f -a 'auto full' -d 'how'"));
  EXPECT_THAT(script, HasSubstr("'__fish_seen_subcommand_from completion' -f -a 'bash fish'"));
  EXPECT_THAT(script, HasSubstr("'__fish_seen_subcommand_from import' -a 'cache'"));
}

}  // namespace
}  // namespace fiel
