#include "workloads/sharing_config.hpp"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "workloads/length_config.hpp"

namespace inferometer {

namespace {

/// Groups and questions that content ids and tables have room for.
const std::string kMostText = std::to_string(kLongestLength - 1);
/// Mean turns; a session of twice as many, or of a thousand times at geometric counts, still has room.
constexpr const char* kMostMeanTurns = "1000";
constexpr const char* kLongestThink = "24 h";

Key section_key(const char* name, Table table, const char* sentence) {
  Key key(name, ValueType::section, sentence);
  key.table = std::make_shared<const Table>(std::move(table));
  return key;
}

SessionOptions session_options(const Values& section) {
  SessionOptions options;
  options.turns = section.count("turns");
  const std::string& counts = section.text("turn_counts");
  options.turn_counts = counts == "fixed"     ? SessionOptions::TurnCounts::fixed
                        : counts == "uniform" ? SessionOptions::TurnCounts::uniform
                                              : SessionOptions::TurnCounts::geometric;
  options.think_time = {section.duration("think_time"), section.text("think_times") == "fixed"};
  if (section.given("max_context")) {
    options.max_context = TokenCount(section.count("max_context"));
  }
  return options;
}

}  // namespace

Key shared_prefix_key() {
  Table table("shared_prefix", "Prompts of groups, each with a beginning that all its prompts have");
  table.add("groups", ValueType::count, "Groups, such as system prompts or documents")
      .range("1", kMostText)
      .required();
  table
      .add_section("prefix", length_table("prefix", "beginnings"),
                   "How many tokens the beginnings have, each drawn once; prompt is what comes after")
      .required();
  table
      .add("skew", ValueType::number,
           "Group k is chosen in proportion to k to the power of -skew; 0 = all as often")
      .by_default("0")
      .range("0", "10");
  table
      .add("questions_per_group", ValueType::count,
           "Each prompt takes one of so many questions of its group, at the length it had first")
      .range("1", kMostText)
      .optional("every question is new");
  return section_key("shared_prefix", std::move(table),
                     "Beginnings that prompts share, as prefix_repetition of vllm bench serve")
      .optional("prompts have nothing in common");
}

Key sessions_key() {
  Table table("sessions", "Conversations, whose prompts repeat all that was said before");
  table.add("turns", ValueType::count, "Mean number of requests in a session")
      .range("1", kMostMeanTurns)
      .required();
  table
      .add_choice("turn_counts", {"fixed", "uniform", "geometric"},
                  "Every session has the mean, 1 to twice the mean less 1, or ends after each turn by chance")
      .by_default("fixed");
  table
      .add_section("follow_up", length_table("follow_up", "questions after the first"),
                   "How many tokens a question has after the first, whose length is prompt's")
      .optional("as prompt");
  table.add("think_time", ValueType::duration, "Mean time from an answer's end to the session's next request")
      .by_default("0 s")
      .range("0 s", kLongestThink);
  table.add_choice("think_times", {"exponential", "fixed"}, "Distribution of think times")
      .by_default("exponential");
  table
      .add("max_context", ValueType::count,
           "A session ends before a request whose prompt and answer are more tokens; set it to what the "
           "engine "
           "takes, which else rejects all further turns")
      .range("1", std::to_string(kLongestLength))
      .optional("sessions go on however long they get");
  return section_key(
             "sessions", std::move(table),
             "Multi-turn conversations in place of single requests; rate and requests count turns, so "
             "sessions begin at rate / turns")
      .optional("requests have nothing to do with each other");
}

Key classes_key() {
  Table table("class", "A share of requests that the service tells from the others");
  table.add("share", ValueType::number, "Share of requests, relative to the other classes'")
      .required()
      .above("0")
      .range("", "1e9");
  table.add("priority", ValueType::count, "Requests of lower ones go first, where the policy asks for it")
      .by_default("0")
      .range("-1000000", "1000000");
  Key key = section_key("classes", std::move(table), "Classes of requests; all of a session are of one");
  key.is_list = true;
  return key.optional("one class of priority 0");
}

void share_and_divide(const Values& workload, std::uint64_t seed, RequestBodies& bodies,
                      Diagnostics& diagnostics) {
  if (workload.given("shared_prefix")) {
    const Values& section = workload.section("shared_prefix");
    PrefixGroupOptions options;
    options.groups = section.count("groups");
    options.prefix = make_length(section.section("prefix"), diagnostics);
    options.skew = section.number("skew");
    options.questions_per_group =
        section.given("questions_per_group") ? section.count("questions_per_group") : 0;
    if (options.prefix) {
      bodies.share_prefixes(PrefixGroups(options, seed));
    }
  }
  if (workload.given("classes")) {
    std::vector<ServiceClass> classes;
    for (const Values* section : workload.sections("classes")) {
      classes.push_back({section->number("share"), static_cast<std::int32_t>(section->count("priority"))});
    }
    if (classes.empty()) {
      diagnostics.add(workload.where("classes"), "expected at least one class, found none");
      return;
    }
    bodies.divide_into(ServiceClasses(std::move(classes), seed));
  }
}

std::optional<SessionScripts> make_session_scripts(const Values& workload, std::uint64_t seed,
                                                   const RequestBodies& bodies, const LengthPair& lengths,
                                                   Diagnostics& diagnostics) {
  const Values& section = workload.section("sessions");
  std::shared_ptr<const LengthDistribution> question = lengths.prompt;
  if (section.given("follow_up")) {
    question = make_length(section.section("follow_up"), diagnostics);
    if (!question) {
      return std::nullopt;
    }
  }
  LengthSampler follow_ups(question, lengths.output, lengths.correlation,
                           SessionScripts::follow_up_seed(seed));
  return SessionScripts(session_options(section), bodies, std::move(follow_ups), seed);
}

}  // namespace inferometer
