#include <iostream>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"

int main() {
  const inferometer::ModelSpec model = inferometer::load_model("llama-3-8b");
  const inferometer::GpuSpec gpu = inferometer::load_gpu("h100-sxm");
  // 32 layers x 8 KV heads x 128 numbers x (key, value) x 2 bytes.
  std::cout << model.kv_bytes_per_token().count() << " bytes a token on " << gpu.name << '\n';
}
