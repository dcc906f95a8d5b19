// Requests out of a trace: out of memory, and for our own CSV out of a file, plain and compressed.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "base/random.hpp"
#include "workloads/trace_reader.hpp"
#include "workloads/trace_writer.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kRequests = 50'000;

/// At least so many digits.
std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string azure_text() {
  RandomStream random(1, "bench/azure");
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    text += "2023-11-16 " + padded(i / 3600, 2) + ":" + padded(i / 60 % 60, 2) + ":" + padded(i % 60, 2) +
            "." + padded(random.below(10'000'000), 7) + "," + std::to_string(1 + random.below(4000)) + "," +
            std::to_string(1 + random.below(1000)) + "\n";
  }
  return text;
}

std::string mooncake_text() {
  RandomStream random(1, "bench/mooncake");
  std::string text;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    const std::uint64_t hash = random.below(100'000);
    text += R"({"timestamp": )" + std::to_string(3000 * i) + R"(, "input_length": )" +
            std::to_string(2048 - random.below(512)) + R"(, "output_length": )" +
            std::to_string(1 + random.below(1000)) + R"(, "hash_ids": [)" + std::to_string(hash) + ", " +
            std::to_string(hash + 1) + ", " + std::to_string(hash + 2) + ", " + std::to_string(hash + 3) +
            "]}\n";
  }
  return text;
}

std::string own_text() {
  RandomStream random(1, "bench/own");
  std::string text = "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n";
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    text += std::to_string(i) + "." + padded(random.below(1'000'000'000'000), 12) + "," +
            std::to_string(1 + random.below(4000)) + "," + std::to_string(1 + random.below(1000)) + ",,,\n";
  }
  return text;
}

void take_all(TraceWorkload& trace) {
  Request request;
  std::int64_t tokens = 0;
  while (trace.next_arrival()) {
    trace.take(request);
    tokens += request.prompt.count();
  }
  benchmark::DoNotOptimize(tokens);
}

void read_trace(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    take_all(*open_trace(bytes_in_memory(text), "trace", TraceOptions()));
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(read_trace, own_csv, own_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, azure_csv, azure_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_trace, mooncake_jsonl, mooncake_text())->Unit(benchmark::kMillisecond);

// A file as `workload convert` leaves it behind.
void read_file(benchmark::State& state, const std::string& ending) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("inferometer-bench-" + std::to_string(getpid()) + ending))
          .string();
  const auto trace = open_trace(bytes_in_memory(own_text()), "trace", TraceOptions());
  const auto writer = open_trace_writer(path, TraceFileKind::inferometer_csv);
  for (Request request; trace->next_arrival();) {
    trace->take(request);
    writer->add(request);
  }
  writer->finish();
  for (auto _ : state) {
    take_all(*open_trace(path, TraceOptions()));
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
  std::filesystem::remove(path);
}
BENCHMARK_CAPTURE(read_file, own_csv, ".csv")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, own_csv_gz, ".csv.gz")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inferometer
