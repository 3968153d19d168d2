#include "cli/target.h"

#include <fmt/format.h>

#include <filesystem>

#include "contract/init.h"
#include "model/model_file.h"
#include "tune/engines.h"

namespace fiel {

Result<Contract> contract_of(const Target& arguments, std::string_view command, const Cli& cli) {
  const std::filesystem::path target = std::filesystem::absolute(arguments.target);
  if (!is_called_a_model(target)) {
    if (!arguments.data.empty()) {
      return fail(ErrorKind::kUsage, "--data goes with a model, not with a contract", "name the data in [data]");
    }
    return read_contract(target);
  }
  const OnnxModel model = FIEL_TRY(read_model(target));
  if (arguments.data.empty()) {
    return fail(ErrorKind::kUsage, "a model alone can't be judged: it needs samples",
                fmt::format("fiel {} {} --data DIR, where DIR holds one .npz per sample; this makes them:\n\n{}",
                            command, arguments.target, sample_script(model)));
  }
  const std::string text = FIEL_TRY(default_contract_text(target, std::filesystem::absolute(arguments.data),
                                                            engines_for(model, cli.cancel_fd)));
  return parse_contract(text, std::filesystem::absolute("contract.toml"));
}

}  // namespace fiel
