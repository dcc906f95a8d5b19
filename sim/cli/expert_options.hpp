#pragma once

// Options of the commands `roofline` and `memory` that spread a mixture of experts over GPUs.

#include <cstdint>

#include "costmodel/model_spec.hpp"
#include "costmodel/parallelism.hpp"

namespace CLI {
class App;
}

namespace inferometer {

struct ExpertOptions {
  std::int64_t attention_data_parallel = 1;
  std::int64_t expert_parallel = 1;

  /// `--attention-data-parallel` and `--expert-parallel`.
  void add_options(CLI::App& command);
  void apply(Parallelism& parallelism) const;
};

}  // namespace inferometer
