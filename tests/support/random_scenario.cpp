#include "tests/support/random_scenario.hpp"

#include <algorithm>

#include "tests/support/dice.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/random_swap.hpp"

namespace inferometer::testing {

namespace {

void draw_memory(Dice& dice, EngineSetup& setup) {
  setup.block_size = dice.one_of({1, 2, 3, 4, 8, 16});
  setup.max_model_len = dice.between(8, 120);
  setup.max_num_seqs = dice.one_of({1, 2, 3, 5, 8, 12});
  const std::int64_t least = ceil_div(setup.max_model_len, setup.block_size);
  setup.blocks = least + dice.one_of({0, 1, least / 4, least, 3 * least, 12 * least});
  setup.costs = {dice.between(1, 20), dice.between(0, 3), dice.between(0, 2), dice.between(0, 2),
                 dice.between(0, 2)};
  if (dice.chance(30)) {
    setup.window = dice.between(1, 40);
    setup.costs.per_window_context = dice.between(0, 2);
  }
}

std::string draw_watermark(Dice& dice, PlainEngine& engine, std::int64_t max_percent) {
  const std::int64_t percent = dice.chance(40) ? 0 : dice.between(1, max_percent);
  engine.watermark_blocks = percent * engine.setup.blocks / 100;
  if (percent * engine.setup.blocks % 100 == 0) {
    // A share that is a whole number of blocks may come out just below it in binary: not what is tested here.
    engine.watermark_blocks = 0;
    return "watermark: 0";
  }
  return std::string("watermark: 0.") + (percent < 10 ? "0" : "") + std::to_string(percent);
}

void draw_sglang(Dice& dice, PlainEngine& engine) {
  EngineSetup& setup = engine.setup;
  PlainSgLangKeys& sglang = engine.sglang;
  sglang.mixed_chunk = dice.chance(30);
  sglang.chunk_size =
      setup.block_size + (sglang.mixed_chunk ? setup.max_num_seqs : 0) + dice.one_of({0, 3, 20, 100});
  sglang.max_prefill_tokens = dice.one_of({1, 20, 100});
  // Without a prefix cache the longest cached prefix comes first wherever it stands.
  const std::string order = dice.chance(30) ? "lpm" : "fcfs";
  const bool is_bold = !dice.chance(50);
  sglang.first_ratio = is_bold ? 35'000'000 : 700'000'000;
  sglang.spare_page = dice.chance(50);
  setup.keys = "chunked_prefill_size: " + std::to_string(sglang.chunk_size) +
               ", max_prefill_tokens: " + std::to_string(sglang.max_prefill_tokens) +
               ", schedule_policy: " + order + ", schedule_conservativeness: " + (is_bold ? "0.05" : "1") +
               ", enable_mixed_chunk: " + (sglang.mixed_chunk ? "true" : "false") +
               ", spare_page: " + (sglang.spare_page ? "true" : "false");
}

void draw_trtllm(Dice& dice, PlainEngine& engine) {
  EngineSetup& setup = engine.setup;
  const bool chunked = dice.chance(50);
  const std::int64_t least = std::max(setup.max_num_seqs, chunked ? setup.block_size : setup.max_model_len);
  const std::string capacity =
      dice.name_of({"guaranteed_no_evict", "max_utilization", "max_utilization", "static_batch"});
  engine.reserve_max_new = capacity != "max_utilization";
  setup.keys = "capacity_scheduler: " + capacity +
               ", max_num_tokens: " + std::to_string(least + dice.one_of({0, 1, 12, 60})) +
               ", enable_chunked_context: " + (chunked ? "true" : "false") + ", context_chunking_policy: " +
               (dice.chance(50) ? "first_come_first_served" : "equal_progress");
}

void draw_chunked_prefill(Dice& dice, PlainEngine& engine) {
  EngineSetup& setup = engine.setup;
  engine.chunked = dice.chance(80);
  engine.budget = setup.max_num_seqs + dice.one_of({0, 1, 4, 16, 64});
  if (!engine.chunked) {
    engine.budget = std::max(engine.budget, setup.max_model_len);
  }
  engine.long_prefill_threshold = dice.chance(50) ? 0 : dice.between(1, 12);
  engine.full_isl = dice.chance(50);
  engine.caches_prefixes = dice.chance(70);
  setup.keys = "max_num_batched_tokens: " + std::to_string(engine.budget) +
               ", long_prefill_token_threshold: " + std::to_string(engine.long_prefill_threshold) +
               ", enable_chunked_prefill: " + (engine.chunked ? "true" : "false") +
               ", admission: " + (engine.full_isl ? "full_isl" : "first_chunk") +
               ", enable_prefix_caching: " + (engine.caches_prefixes ? "true" : "false") + ", " +
               draw_watermark(dice, engine, 40);
  if (setup.policy == "shortest_job_first") {
    setup.keys += std::string(", shortest_by: ") + (dice.chance(50) ? "prompt" : "max_new_tokens") +
                  ", ageing: " + std::to_string(dice.one_of({0, 0, 100, 100'000}));
  }
}

void draw_reservation(Dice& dice, PlainEngine& engine) {
  engine.reserve_model_len = dice.chance(30);
  engine.reserve_max_new = true;
  engine.setup.keys =
      std::string("reserve: ") + (engine.reserve_model_len ? "max_model_len" : "max_new_tokens");
}

void draw_policy(Dice& dice, PlainEngine& engine) {
  EngineSetup& setup = engine.setup;
  if (setup.policy == "chunked_prefill" || setup.policy == "priority" ||
      setup.policy == "shortest_job_first") {
    draw_chunked_prefill(dice, engine);
  } else if (setup.policy == "sglang") {
    draw_sglang(dice, engine);
    setup.keys += key_without_prefix_cache(setup.policy);  // the plain loop has none
  } else if (setup.policy == "trtllm") {
    draw_trtllm(dice, engine);
    setup.keys += key_without_prefix_cache(setup.policy);
  } else if (setup.policy == "continuous") {
    engine.budget = setup.max_model_len + dice.one_of({0, 1, 40, 200});
    setup.keys =
        "max_num_batched_tokens: " + std::to_string(engine.budget) + ", " + draw_watermark(dice, engine, 30);
    draw_swap(dice, setup);
  } else if (setup.policy == "sarathi") {
    engine.budget = setup.max_num_seqs + dice.one_of({0, 1, 4, 16, 64});
    setup.keys = "chunk_size: " + std::to_string(engine.budget) + ", " + draw_watermark(dice, engine, 30);
  } else {
    draw_reservation(dice, engine);
    if (setup.policy == "static") {
      engine.static_padding = dice.chance(50);
      const std::int64_t window_us = dice.one_of({0, 1, 50, 400});
      engine.wait_window = microseconds(window_us);
      setup.keys += std::string(", static_padding: ") + (engine.static_padding ? "true" : "false") +
                    ", wait_window: " + std::to_string(window_us) + " us";
    }
  }
}

/// Lengths that can run to their end, but for a few prompts that cannot start. A sequence that fits at first
/// must fit with all its output too: an engine that is set up properly has a max_model_len which ensures
/// that.
TestRequest draw_lengths(Dice& dice, const PlainEngine& engine) {
  const std::int64_t longest = engine.setup.max_model_len;
  const bool is_gated = engine.setup.policy == "continuous" || engine.setup.policy == "sarathi";
  const std::int64_t fitting =
      is_gated ? std::min(longest, (engine.setup.blocks - engine.watermark_blocks) * engine.setup.block_size)
               : longest;
  TestRequest request;
  if (dice.chance(5)) {
    request.prompt = longest + dice.between(0, 3);  // refused at the door
  } else if (fitting < longest - 1 && dice.chance(10)) {
    request.prompt = dice.between(fitting + 1, longest - 1);  // refused by the scheduler
  } else {
    request.prompt = dice.chance(50) ? dice.between(1, fitting - 1)
                                     : dice.between(1, std::max<std::int64_t>(1, fitting / 6));
    request.output = dice.between(1, fitting - request.prompt);
    if (dice.chance(50)) {
      request.output = std::min(request.output, dice.between(1, 6));
    }
    if (fitting == longest && dice.chance(10)) {
      request.output = longest;  // cut at max_model_len
    }
  }
  request.max_new = request.output + dice.one_of({0, 0, 3, 20});
  return request;
}

}  // namespace

std::string RandomScenario::describe() const {
  const EngineSetup& setup = engine.setup;
  std::string text = setup.policy + " {" + setup.keys + "} blocks " + std::to_string(setup.blocks) + " of " +
                     std::to_string(setup.block_size) + ", max_model_len " +
                     std::to_string(setup.max_model_len) + ", max_num_seqs " +
                     std::to_string(setup.max_num_seqs) + ", window " +
                     (setup.window ? std::to_string(*setup.window) : "none") + swap_text(setup) +
                     (setup.plans_ahead ? ", plans ahead" : "") + ", clients " + std::to_string(clients) +
                     ", think_ps " + std::to_string(think.count()) + "\n";
  for (const TestRequest& request : requests) {
    text += std::to_string(request.arrival.since_start().count()) + "ps " + std::to_string(request.prompt) +
            "+" + std::to_string(request.output) + " max_new " + std::to_string(request.max_new) +
            " priority " + std::to_string(request.priority) + content_text(request) + "\n";
  }
  return text;
}

RandomScenario random_scenario(const std::string& policy, std::uint64_t seed) {
  Dice dice(seed, "tests/random_scenario/" + policy);
  RandomScenario scenario;
  scenario.engine.setup.policy = policy;
  draw_memory(dice, scenario.engine.setup);
  draw_policy(dice, scenario.engine);
  const std::int64_t count = dice.between(1, 40);
  const std::int64_t longest_gap_us = dice.one_of({0, 5, 40, 400});
  const std::int64_t burst_percent = dice.one_of({0, 50, 90});
  std::int64_t arrival_us = dice.between(0, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    TestRequest request = draw_lengths(dice, scenario.engine);
    request.arrival = TimePoint(microseconds(arrival_us));
    if (policy == "priority") {
      request.priority = static_cast<std::int32_t>(dice.between(-1, 1));
    }
    scenario.requests.push_back(request);
    arrival_us += dice.chance(burst_percent) ? 0 : dice.between(0, longest_gap_us);
  }
  if (dice.chance(60)) {
    draw_contents(dice, scenario.requests);
  }
  if (dice.chance(30)) {
    scenario.clients = dice.between(1, 10);
    scenario.think = microseconds(dice.one_of({0, 0, 7, 100}));
  }
  scenario.engine.setup.plans_ahead = Dice(seed, "tests/random_scenario/plans_ahead").chance(30);
  return scenario;
}

}  // namespace inferometer::testing
