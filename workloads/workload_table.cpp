#include <memory>
#include <string>
#include <utility>

#include "workloads/length_config.hpp"
#include "workloads/presets.hpp"
#include "workloads/sharing_config.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {

namespace {

Key exact_duration() {
  return Key("exact_duration", ValueType::flag,
             "Scale all times so that the last request arrives at exactly requests / rate, as vllm bench "
             "serve")
      .by_default("true");
}

Key length_of_time(const char* name, const char* sentence) {
  return Key(name, ValueType::duration, sentence);
}

Key fixed_or_exponential(const char* name, const char* sentence) {
  Key key(name, ValueType::choice, sentence);
  key.words = {"exponential", "fixed"};
  return key.by_default("exponential");
}

Key needed_rate() {
  return Key("rate", ValueType::rate, "Mean request rate").required().above("0 req/s").range("", "1e9 req/s");
}

Key request_count() {
  return Key("requests", ValueType::count, "Requests in all").by_default("1000").range("1", "1000000000");
}

Key max_new_factor() {
  return Key("max_new_factor", ValueType::number,
             "Clients allow this many times the output length; not with max_new_tokens")
      .range("1", "1000")
      .optional("clients allow each request's own output length");
}

Key session_history_key() {
  Key key(
      "session_history", ValueType::choice,
      "Whether the prompt of a request that waits for an answer includes what was said before, or that is "
      "added, as AIPerf does");
  key.words = {"included", "added"};
  return key.optional("included");
}

void add_trace_keys(Table& table) {
  table.add_when_given(
      "trace",
      {Key("rate", ValueType::rate, "Request rate of Poisson arrivals, for a trace that has no times")
           .above("0 req/s")
           .range("", "1e9 req/s")
           .optional("the trace's own times"),
       Key("requests", ValueType::count, "At most so many requests")
           .range("1", "1000000000")
           .optional("the whole trace"),
       Key("rate_scale", ValueType::number, "Times the trace's request rate; 2 halves all times")
           .by_default("1")
           .range("1e-6", "1e6"),
       length_of_time("window_start", "Leave out what came before, in trace time")
           .by_default("0 s")
           .range("0 s"),
       length_of_time("window_end", "Leave out what came at or after, in trace time")
           .range("0 s")
           .optional("to the end"),
       Key("block_size", ValueType::count,
           "Prompt tokens that a hash id stands for, in traces as Mooncake's and AIPerf's")
           .range("1", std::to_string(kLongestLength))
           .optional("512; a format that leaves no choice has its own"),
       session_history_key(),
       Key("skip_bad_lines", ValueType::flag,
           "Count and report broken lines instead of stopping at the first")
           .by_default("false")});
}

Key length_section(const std::string& name) {
  Key key(name, ValueType::section, "How many tokens " + name + "s have");
  key.table = std::make_shared<const Table>(length_table(name, name + "s"));
  return key.optional("lengths must be given");
}

void add_generator_keys(Table& table) {
  Key lengths("lengths", ValueType::choice, "Prompt and output lengths of this preset");
  lengths.words = preset_names();
  table.add_when_given(
      "generator",
      {request_count(), lengths.optional("prompt and output must be given"), length_section("prompt"),
       length_section("output"),
       Key("length_correlation", ValueType::number,
           "Rank correlation (Spearman's) of prompt and output lengths; not with lengths, which has its own")
           .range("-1", "1")
           .optional("0"),
       max_new_factor(), shared_prefix_key(), sessions_key(), classes_key()});
}

void add_generators(Table& table) {
  table.add_variant("generator", "poisson", {needed_rate(), exact_duration()});
  table.add_variant(
      "generator", "gamma",
      {needed_rate(),
       Key("burstiness", ValueType::number,
           "Shape of the gamma distribution of gaps: 1 = Poisson, below 1 = bursty, above 1 = regular")
           .required()
           .range("0.01", "1000"),
       exact_duration()});
  table.add_variant("generator", "constant", {needed_rate()});
  table.add_variant(
      "generator", "on_off",
      {needed_rate(), length_of_time("mean_on", "Mean length of a burst").required().range("10 ms", "24 h"),
       length_of_time("mean_off", "Mean length of the silence between bursts")
           .required()
           .range("10 ms", "24 h"),
       fixed_or_exponential("phases", "Lengths of bursts and silences")});
  Key weights("weights", ValueType::number,
              "Rates of equal parts of the day, such as 24 hourly ones, in any unit");
  weights.is_list = true;
  table.add_variant(
      "generator", "diurnal",
      {needed_rate(),
       Key("peak_to_trough", ValueType::number, "Highest over lowest rate of a day that swings as a sine")
           .range("1", "1e6")
           .optional("weights must be given"),
       length_of_time("peak_at", "Time of day of the highest rate, with peak_to_trough")
           .range("0 s")
           .optional("the middle of the day"),
       weights.range("0", "1e9").optional("peak_to_trough must be given"),
       length_of_time("day", "Length of the day; a shorter one than 24 h compresses it")
           .by_default("24 h")
           .range("1 s", "2400 h"),
       length_of_time("starts_at", "Time of day at which the simulation starts")
           .by_default("0 s")
           .range("0 s")});
  table.add_variant(
      "generator", "closed_loop",
      {Key("clients", ValueType::count, "Clients, each with one request in the system at most")
           .required()
           .range("1", "1000000"),
       length_of_time("think_time", "Mean time from an answer's end to the client's next request")
           .by_default("0 s")
           .range("0 s", "24 h"),
       fixed_or_exponential("think_times", "Distribution of think times"),
       length_of_time("ramp_up", "Clients send their first requests evenly over this time")
           .by_default("0 s")
           .range("0 s", "24 h")});
}

}  // namespace

Table workload_table() {
  Table table("workload", "Where requests come from: exactly one of preset, trace and generator");
  table.add_choice("preset", preset_names(), "Arrivals and lengths as fitted from this public trace")
      .optional("trace or generator must be given");
  table
      .add("trace", ValueType::text,
           "File with recorded requests, relative to the scenario; .gz is read as it is")
      .optional("preset or generator must be given");
  table
      .add_choice("generator",
                  {"poisson", "gamma", "constant", "on_off", "diurnal", "all_at_once", "closed_loop"},
                  "How requests arrive")
      .optional("preset or trace must be given");
  table.add("max_new_tokens", ValueType::count, "Output tokens that clients allow; a longer output raises it")
      .range("1", std::to_string(kLongestLength))
      .optional("each request's own output length");
  table.set_alternatives({"preset", "trace", "generator"});
  table.add_when_given("preset", {needed_rate(), request_count(), max_new_factor(), classes_key()});
  add_trace_keys(table);
  add_generator_keys(table);
  add_generators(table);
  return table;
}

}  // namespace inferometer
