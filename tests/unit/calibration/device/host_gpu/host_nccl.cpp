// NCCL's collectives over host memory: a group runs when all its ranks are queued.

#include <map>
#include <utility>
#include <vector>

#include "calibration/device/nccl.hpp"
#include "tests/unit/calibration/device/host_gpu/fault.hpp"
#include "tests/unit/calibration/device/host_gpu/host_cuda.hpp"
#include "tests/unit/calibration/device/host_gpu/host_memory.hpp"

namespace inferometer {
namespace {

constexpr kernels::ElementType kBf16 = kernels::ElementType::bf16;

struct Part {
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  bool is_sum = false;
};

}  // namespace

struct Nccl::Library {
  std::map<int, Part> parts;  // of the group that is being queued, by rank
};

std::unique_ptr<Nccl> Nccl::open() {
  return std::unique_ptr<Nccl>(new Nccl(std::make_unique<Library>()));
}

Nccl::Nccl(std::unique_ptr<Library> library) : library_(std::move(library)) {
}
Nccl::~Nccl() = default;

std::string Nccl::version() const {
  return "2.28.9";
}

void Nccl::connect(const std::vector<int>& devices) {
  communicators_.assign(devices.size(), nullptr);
}

void Nccl::start_group() {
  library_->parts.clear();
}

void Nccl::all_reduce(int rank, const void* input, void* output, std::size_t count, kernels::Stream) {
  library_->parts[rank] = {input, output, count, true};
}

void Nccl::all_gather(int rank, const void* input, void* output, std::size_t count, kernels::Stream) {
  library_->parts[rank] = {input, output, count, false};
}

void Nccl::end_group() {
  if (library_->parts.size() != communicators_.size()) {
    return;  // it would wait for ever
  }
  const std::size_t count = library_->parts[0].count;
  testing::queue(count == 1 ? "meeting" : "collective", [parts = library_->parts, count] {
    for (const auto& [rank, part] : parts) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::int64_t>(i);
        double sum = 0;
        for (const auto& [other, of_other] : parts) {
          const double value = testing::load(of_other.input, index, kBf16);
          const auto place = static_cast<std::int64_t>(static_cast<std::size_t>(other) * count + i);
          sum += testing::has_fault(testing::Fault::leaves_out_a_rank) && other == 1 ? 0 : value;
          if (!part.is_sum) {
            testing::store(part.output, place, kBf16, value);
          }
        }
        if (part.is_sum) {
          testing::store(part.output, index, kBf16, sum);
        }
      }
      if (testing::has_fault(testing::Fault::leaves_last_output)) {
        const std::size_t outputs = part.is_sum ? count : count * parts.size();
        testing::store(part.output, static_cast<std::int64_t>(outputs) - 1, kBf16, NAN);
      }
    }
  });
}

}  // namespace inferometer
