// What must hold of requests that share prefixes and of sessions, whatever is asked for and however long
// answers take: contents add up, each turn goes on from the one before and after its answer, and what a
// session consists of does not depend on the service.

#include <map>
#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/serve_workload.hpp"
#include "workloads/workload_config.hpp"

using namespace inferometer;
using inferometer::test::Seen;
using inferometer::test::serve;
using inferometer::testing::Dice;

namespace {

constexpr int kWorkloads = 300;

std::string number(std::int64_t value) {
  return std::to_string(value);
}

std::string random_length(Dice& dice, std::int64_t most) {
  const std::int64_t min = dice.between(1, most);
  return "{distribution: uniform, min: " + number(min) + ", max: " + number(dice.between(min, most)) + "}";
}

std::string random_workload(Dice& dice) {
  std::string text = dice.chance(30) ? "{generator: closed_loop, clients: " + number(dice.between(1, 9)) +
                                           ", think_time: 1 s"
                                     : "{generator: poisson, rate: " + number(dice.between(1, 50)) + " req/s";
  text += ", requests: " + number(dice.between(1, 80));
  text += ", prompt: " + random_length(dice, 200) + ", output: " + random_length(dice, 50);
  if (dice.chance(60)) {
    text += ", shared_prefix: {groups: " + number(dice.between(1, 6)) +
            ", prefix: " + random_length(dice, 300) + ", skew: " + number(dice.between(0, 2));
    text += dice.chance(40) ? ", questions_per_group: " + number(dice.between(1, 3)) + "}" : "}";
  }
  if (dice.chance(70)) {
    text += ", sessions: {turns: " + number(dice.between(1, 6)) +
            ", turn_counts: " + dice.name_of({"fixed", "uniform", "geometric"}) +
            ", think_time: " + number(dice.between(0, 3)) + " s";
    text += dice.chance(50) ? ", max_context: " + number(dice.between(1, 1'500)) : "";
    text += dice.chance(50) ? ", follow_up: " + random_length(dice, 90) + "}" : "}";
  }
  text += dice.chance(30) ? ", classes: [{share: 2}, {share: 1, priority: 4}]}" : "}";
  return text;
}

std::unique_ptr<Workload> make(const std::string& text) {
  Diagnostics diagnostics;
  const Values section = parse(workload_table(), read_yaml_text(text, "w.yaml"), diagnostics);
  diagnostics.throw_if_any();
  return make_workload(section, 1, "");
}

Seen serve_randomly(const std::string& text, const std::string& stream) {
  return serve(*make(text), [&](std::int64_t id) {
    return milliseconds(static_cast<std::int64_t>(RandomStream(1, stream + number(id)).below(5'000)));
  });
}

std::int64_t tokens_of(const std::vector<ContentRun>& content) {
  std::int64_t tokens = 0;
  for (const ContentRun& run : content) {
    REQUIRE(run.id > 0);
    REQUIRE(run.tokens >= 1);
    tokens += run.tokens;
  }
  return tokens;
}

void check_contents(const Seen& seen) {
  std::map<std::uint64_t, std::int64_t> length_of;  // of generated things, each is one thing
  for (const Request& request : seen.requests) {
    if (!request.content.empty()) {
      REQUIRE(tokens_of(request.content) == request.prompt.count());
    }
    for (const ContentRun& run : request.content) {
      REQUIRE(length_of.try_emplace(run.id, run.tokens).first->second == run.tokens);
    }
  }
}

void check_sessions(const Seen& seen) {
  std::map<std::int64_t, const Request*> last;
  for (const Request& request : seen.requests) {
    if (request.session < 0) {
      continue;
    }
    const Request*& before = last[request.session];
    if (before == nullptr) {
      REQUIRE(request.content.size() <= 2);
    } else {
      std::vector<ContentRun> history = before->content;
      history.push_back({before->output_content, before->output.count()});
      REQUIRE(before->output_content != 0);
      REQUIRE(request.content.size() == history.size() + 1);
      REQUIRE(std::equal(history.begin(), history.end(), request.content.begin()));
      REQUIRE(request.arrival >= seen.answered[static_cast<std::size_t>(before->id)]);
      REQUIRE(request.service_class == before->service_class);
      REQUIRE(request.priority == before->priority);
    }
    before = &request;
  }
  for (const auto& [session, request] : last) {
    REQUIRE(request->output_content == 0);
  }
}

std::map<std::int64_t, std::vector<std::vector<ContentRun>>> contents_by_session(const Seen& seen) {
  std::map<std::int64_t, std::vector<std::vector<ContentRun>>> result;
  for (const Request& request : seen.requests) {
    result[request.session].push_back(request.content);
  }
  return result;
}

}  // namespace

TEST_CASE("generated requests add up, go on after answers, and are as many as asked") {
  for (int i = 0; i < kWorkloads; ++i) {
    Dice dice(static_cast<std::uint64_t>(i), "tests/content");
    const std::string text = random_workload(dice);
    INFO(text);
    const Seen seen = serve_randomly(text, "a");
    REQUIRE(make(text)->size_hint() == static_cast<std::int64_t>(seen.requests.size()));
    check_contents(seen);
    check_sessions(seen);
    // Another service answers in another order; session by session the same is said.
    REQUIRE(contents_by_session(serve_randomly(text, "b")) == contents_by_session(seen));
  }
}
