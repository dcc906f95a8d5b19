// aiconfigurator's tables of end-to-end measurements ("silicon"): mean TTFT and TPOT of a number of clients.
//
// Where they come from says silicon_data_source, "source_file=...; silicon_concurrency=N; ...":
//   a file named by a date (InferenceMAX, now InferenceX): lengths uniform in [0.8, 1] of the nominal ones
//   and ten
//     prompts a client (benchmark_serving with --random-range-ratio 0.8, --num-prompts 10 * concurrency);
//   any other (AIPerf): fixed lengths, fifty requests a client; the engine as aiconfigurator's own generator
//   sets it
//     up, src/aiconfigurator/generator/rule_plugin/{trtllm,vllm}.rule and the benchmark template beside them
//     (read 2026-12-01): room for 512 sequences, or twice the clients where that is more, and a token budget
//     of that, the prompt and 1500 together.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "base/units.hpp"
#include "sim/validation/formats/run_formats.hpp"
#include "sim/validation/run_settings.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kRoundsOfClients = 10;
constexpr std::int64_t kRoundsOfAiperf = 50;
constexpr std::int64_t kFewestSeats = 512;
constexpr std::int64_t kSpareTokens = 1500;
constexpr std::int64_t kTrtllmBlock = 32;
constexpr double kShortestShare = 0.8;

// The value of KEY in "KEY=value; KEY=value"; "" without it.
std::string part_of(std::string_view source, std::string_view key) {
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find(';', begin), source.size());
    const std::string_view part = trimmed(source.substr(begin, end - begin));
    if (part.size() > key.size() && part.substr(0, key.size()) == key && part[key.size()] == '=') {
      return std::string(part.substr(key.size() + 1));
    }
    begin = end + 1;
  }
  return "";
}

// "2026-04-06.csv"
bool is_date(std::string_view file) {
  return file.size() >= 10 &&
         std::all_of(file.begin(), file.begin() + 4, [](char c) { return c >= '0' && c <= '9'; }) &&
         file[4] == '-' && file[7] == '-';
}

// "1.2" of an image's tag "name:v1.2-cu128"; "" when the tag is none.
std::string version_of_image(const std::string& image, const std::string& engine) {
  const std::size_t colon = image.rfind(':');
  // A runtime's image is numbered as the runtime, not as the engine in it.
  if (colon == std::string::npos || image.find("runtime") != std::string::npos ||
      image.find(engine) == std::string::npos) {
    return "";
  }
  std::string tag = image.substr(colon + 1);
  tag = tag.substr(0, tag.find('-'));
  tag.erase(0, !tag.empty() && tag.front() == 'v' ? 1 : 0);
  return !tag.empty() && tag.front() >= '0' && tag.front() <= '9' ? tag : "";
}

void set_engine(MeasuredRun& run, CsvRows& row, const std::string& source) {
  run.engine.name = row.needed_text("backend");
  run.engine.version = row.text("backend_version");
  if (run.engine.version.empty()) {
    run.engine.version = version_of_image(part_of(source, "image"), run.engine.name);
  }
  const std::string measured = part_of(source, "measured");
  if (is_date(measured)) {
    run.engine.month = measured.substr(0, 7);
  }
  const std::string of = run.engine.version.empty() ? run.engine.month : run.engine.version;
  run.group = fmt::format("aiconfigurator {}{}{}", run.engine.name, of.empty() ? "" : " ", of);
}

// Limits of the engine as aiconfigurator generates them.
void set_limits(MeasuredRun& run, std::int64_t clients, std::int64_t prompt, std::int64_t output) {
  const std::int64_t seats = clients < kFewestSeats ? kFewestSeats : 2 * clients;
  const std::int64_t budget = seats + prompt + kSpareTokens;
  if (run.engine.name == "vllm") {
    set(run, "engine.max_num_seqs", seats);
    set(run, "engine.max_num_batched_tokens", budget);
    set(run, "engine.max_model_len", prompt + output + kSpareTokens);
  } else if (run.engine.name == "trtllm") {
    set(run, "engine.max_num_seqs", seats);
    set(run, "engine.max_num_tokens",
        std::max(ceil_div(budget, kTrtllmBlock) * kTrtllmBlock, prompt + output));
    set(run, "engine.max_model_len", prompt + output);
  }
}

void set_lengths_and_clients(MeasuredRun& run, CsvRows& row, const std::string& source, std::int64_t clients,
                             bool is_one_engine) {
  const std::int64_t prompt = row.needed_count("isl", 1, 1 << 20);
  const std::int64_t output = row.needed_count("osl", 1, 1 << 20);
  const bool is_spread = is_date(part_of(source, "source_file"));
  for (const auto& [which, tokens] : {std::pair("prompt", prompt), std::pair("output", output)}) {
    if (is_spread) {
      set_uniform(run, which,
                  static_cast<std::int64_t>(std::ceil(kShortestShare * static_cast<double>(tokens))), tokens);
    } else {
      set_fixed(run, which, tokens);
    }
  }
  set_closed_loop(run, clients, (is_spread ? kRoundsOfClients : kRoundsOfAiperf) * clients);
  if (!is_spread && is_one_engine) {
    set_limits(run, clients, prompt, output);
  }
}

// hardware.KEY or cluster.pools.POOL.KEY, out of columns with the pool's prefix.
void set_split(MeasuredRun& run, CsvRows& row, const std::string& prefix, const std::string& section) {
  const auto set_more_than_one = [&](const char* column, const char* key) {
    const std::int64_t value = row.count(prefix + column, 0).value_or(1);
    if (value > 1) {
      set(run, section + key, value);
    }
  };
  set_more_than_one("tp_size", "tensor_parallel");
  set_more_than_one("pp_size", "pipeline_parallel");
  set_more_than_one("attention_dp_size", "attention_data_parallel");
  set_more_than_one("moe_ep_size", "expert_parallel");
}

std::int64_t set_pools(MeasuredRun& run, CsvRows& row) {
  set(run, "engine.policy", "disaggregated");
  if (run.engine.name != "vllm") {
    run.notes.push_back(
        fmt::format("pools that batch as vLLM does, for {} has none of its own here", run.engine.name));
  }
  for (const char* pool : {"prefill", "decode"}) {
    const std::string prefix = fmt::format("{}_", pool);
    const std::string section = fmt::format("cluster.pools.{}.", pool);
    set(run, section + "replicas", row.needed_count(prefix + "num_workers", 1, 4096));
    set_split(run, row, prefix, section);
  }
  return row.count("decode_batch_size").value_or(1) * row.count("decode_num_workers").value_or(1) *
         std::max<std::int64_t>(1, row.count("decode_attention_dp_size", 0).value_or(1));
}

std::int64_t clients_of(MeasuredRun& run, CsvRows& row, const std::string& source, std::int64_t batch) {
  const std::string concurrency = part_of(source, "silicon_concurrency");
  if (concurrency.empty()) {
    return batch;
  }
  std::int64_t clients = 0;
  for (const char c : concurrency) {
    if (c < '0' || c > '9' || clients > 1'000'000) {
      row.refuse("silicon_data_source",
                 fmt::format("expected silicon_concurrency to be a whole number from 1 to "
                             "1000000, found {}",
                             quoted_excerpt(concurrency)));
      return batch;
    }
    clients = clients * 10 + (c - '0');
  }
  if (clients < 1) {
    row.refuse("silicon_data_source",
               "expected silicon_concurrency to be a whole number from 1 to 1000000, found \"0\"");
    return batch;
  }
  if (clients != batch) {
    run.notes.push_back(
        fmt::format("{} clients as silicon_concurrency has it, not the {} of batch_size", clients, batch));
  }
  return clients;
}

MeasuredRun read_row(CsvRows& row) {
  MeasuredRun run;
  run.name = row.needed_text("id");
  run.source = row.source();
  const std::string source = row.text("silicon_data_source");
  set_engine(run, row, source);
  set_model(run, row.needed_text("model_path"));
  set_gpu(run, row.needed_text("system"));
  const std::string gemm = row.text("gemm_quant_mode");
  set_precision(run, gemm.empty() ? row.text("precision") : gemm);

  const std::string mode = row.text("mode");
  std::int64_t batch = 1;
  if (mode == "disagg") {
    batch = set_pools(run, row);
  } else if (mode.empty() || mode == "agg") {
    set_split(run, row, "", "hardware.");
    batch = row.needed_count("batch_size", 1, 1'000'000) *
            std::max<std::int64_t>(1, row.count("attention_dp_size", 0, 64).value_or(1));
  } else {
    row.refuse("mode", fmt::format("expected mode to be agg or disagg, found {}", quoted_excerpt(mode)));
  }
  set_lengths_and_clients(run, row, source, clients_of(run, row, source, batch), mode != "disagg");
  run.values.push_back({"mean_ttft_ms", row.needed_positive("silicon_ttft_ms")});
  run.values.push_back({"mean_tpot_ms", row.needed_positive("silicon_tpot_ms")});
  return run;
}

}  // namespace

CsvRunFormat aiconfigurator_format() {
  return {"aiconfigurator silicon",
          {"id", "backend", "model_path", "system", "isl", "osl", "batch_size", "tp_size", "silicon_ttft_ms",
           "silicon_tpot_ms"},
          [](CsvRows& rows, const std::string&, Diagnostics&) {
            std::vector<MeasuredRun> runs;
            while (rows.next()) {
              runs.push_back(read_row(rows));
            }
            return runs;
          }};
}

}  // namespace inferometer
