#include "sim/cli/expert_options.hpp"

#include <CLI/CLI.hpp>

namespace inferometer {

void ExpertOptions::add_options(CLI::App& command) {
  command
      .add_option("--attention-data-parallel", attention_data_parallel,
                  "Mixture of experts: ranks of --tensor-parallel GPUs with all of attention and their own "
                  "sequences; experts are spread over the GPUs of all")
      ->capture_default_str();
  command
      .add_option("--expert-parallel", expert_parallel,
                  "Mixture of experts: groups of GPUs that hold different experts")
      ->capture_default_str();
}

void ExpertOptions::apply(Parallelism& parallelism) const {
  parallelism.attention_data = attention_data_parallel;
  parallelism.expert = expert_parallel;
}

}  // namespace inferometer
