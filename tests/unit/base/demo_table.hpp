#pragma once

// A table with every type of value, lists, a nested section, and both kinds of variants.

#include "base/config/table.hpp"

namespace inferometer {

inline Table demo_engine_table() {
  Table engine("", "How requests are batched.");
  engine.add_choice("policy", {"static", "chunked", "sarathi"}, "Batch policy").required();
  engine.add("max_num_seqs", ValueType::count, "Most sequences in a step")
      .by_default("256")
      .range("1", "4096");
  engine.add("utilization", ValueType::number, "Share of memory used")
      .by_default("0.9")
      .above("0")
      .range("", "1");
  engine.add("padding", ValueType::flag, "Whether short prompts are padded").by_default("false");
  engine.add("blocks", ValueType::count, "KV blocks").optional("as many as fit").range("1");
  engine.add_variant("policy", "static",
                     {Key("wait", ValueType::duration, "Longest wait").by_default("0 s").range("0 s")});
  engine.add_variant("policy", "chunked",
                     {Key("chunk", ValueType::count, "Tokens of a chunk").required().range("1")});
  engine.add_variant("policy", "sarathi",
                     {Key("chunk", ValueType::count, "Tokens of a chunk").by_default("512")});
  return engine;
}

inline Table demo_table() {
  Table table("", "A demonstration.");
  table.add("model", ValueType::text, "Which model").required();
  table.add_section("engine", demo_engine_table(), "The engine");
  Table gpu("", "The accelerator.");
  gpu.add("memory", ValueType::bytes, "Device memory").by_default("80 GB").range("1 GB", "1 TB");
  gpu.add("hbm_bandwidth", ValueType::bandwidth, "Memory bandwidth").by_default("3.35 TB/s");
  gpu.add("peak", ValueType::compute_rate, "Dense peak").by_default("989 TFLOPS");
  gpu.add("price", ValueType::price_rate, "Rent").by_default("2.95 $/h");
  gpu.add("power", ValueType::power, "Board power").by_default("700 W");
  gpu.add("clock", ValueType::frequency, "Clock").by_default("1830 MHz");
  table.add_section("gpu", gpu, "The GPU");
  table.add("rate", ValueType::rate, "Arrivals").optional("as in the trace");
  table.add("trace", ValueType::text, "A file").optional("no trace is read");
  table.add_when_given("trace", {Key("rate_scale", ValueType::number, "Speeds arrivals up").by_default("1")});
  table.add_list("levels", ValueType::duration, "Steps").by_default("[1 ms, 2 ms]");
  table.add_list("names", ValueType::text, "Labels").optional("no labels");
  table.add("seed", ValueType::count, "Master seed").by_default("1");
  return table;
}

/// A choice within a choice: mode split has a key `inner` of its own, whose words have the keys that the
/// modes of the same names have. The section may be written as its mode alone.
inline Table nested_choice_table() {
  Table table("", "Nested");
  const std::vector<Key> of_fast{Key("budget", ValueType::count, "A budget").by_default("8")};
  const std::vector<Key> of_slow{Key("wait", ValueType::duration, "A wait").by_default("1 s")};
  table.add_choice("mode", {"fast", "slow", "split"}, "Mode").by_default("fast");
  table.add_variant("mode", "fast", of_fast);
  table.add_variant("mode", "slow", of_slow);
  Table split("", "");
  split.add_choice("inner", {"fast", "slow"}, "Mode of the halves").by_default("fast");
  table.add_variant("mode", "split", split.keys());
  table.add_variant("inner", "fast", of_fast);
  table.add_variant("inner", "slow", of_slow);
  table.set_bare_value("mode");
  Table top("", "Top");
  top.add_section("engine", table, "The engine");
  return top;
}

}  // namespace inferometer
