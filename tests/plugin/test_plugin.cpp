// A plugin for tests, good or with the fault that the environment names.

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "sim/plugin/plugin.hpp"

namespace {

using namespace inferometer;

std::string fault() {
  const char* const named = std::getenv("INFEROMETER_TEST_PLUGIN_FAULT");
  return named != nullptr ? named : "";
}

/// Runs the whole prompt at the head of the queue whenever nothing runs.
class OneByOne : public BatchPolicy {
 public:
  void plan(const ReplicaView& view, StepPlan& plan) override {
    if (fault() == "throws as it plans") {
      throw std::runtime_error("out of ideas");
    }
    plan.decode = view.decode_count() > 0;
    if (view.running_count() == 0 && !view.waiting().empty()) {
      const SequenceId head = view.waiting().front();
      plan.admitted.push_back({head, 0});
      plan.chunks.push_back({head, view.tokens(head) + (fault() == "plans too much" ? 1 : 0)});
    }
  }
};

class LastReplica : public Router {
 public:
  std::int32_t choose(const Request&, const RouterView& view) override { return view.candidates().back(); }
};

PolicyEntry one_by_one(const std::string& name) {
  return {
      .name = name,
      .summary = "one request at a time",
      .keys = {},
      .step_tokens = [](const Values&, std::int64_t max_model_len) { return max_model_len; },
      .make = [](const Values&, const EngineLimits&) -> std::unique_ptr<BatchPolicy> {
        return std::make_unique<OneByOne>();
      },
  };
}

RouterEntry last_replica() {
  return {
      .name = "last_replica",
      .summary = "the replica with the highest number",
      .keys = {},
      .make = [](const Values&, std::uint64_t, const std::string&) -> std::unique_ptr<Router> {
        return std::make_unique<LastReplica>();
      },
  };
}

void register_test_entries(PluginHost& host) {
  const std::string what = fault();
  if (what == "nothing") {
    return;
  }
  if (what == "throws") {
    throw std::runtime_error("no licence found");
  }
  if (what == "throws a number") {
    throw 7;
  }
  const bool is_faulty = what.starts_with("no ") || what.starts_with("key ") || what == "twice";
  PolicyEntry policy = one_by_one(what.starts_with("name ") ? what.substr(5)
                                  : is_faulty               ? "faulty"
                                                            : "one_by_one");
  if (what == "no make") {
    policy.make = nullptr;
  } else if (what == "no step_tokens") {
    policy.step_tokens = nullptr;
  } else if (what == "no summary") {
    policy.summary.clear();
  } else if (what == "key without default") {
    policy.keys.emplace_back("patience", ValueType::duration, "How long it waits");
  } else if (what == "key with a bad default") {
    policy.keys.push_back(Key("patience", ValueType::duration, "How long it waits").by_default("soon"));
  } else if (what == "key of every policy") {
    policy.keys.push_back(Key("block_size", ValueType::count, "Of its own").by_default("1"));
  } else if (what == "required key") {
    policy.name = "with_required_key";
    policy.keys.push_back(Key("patience", ValueType::duration, "How long it waits").required());
  } else if (what == "config error") {
    policy.name = "hard_to_please";
    policy.step_tokens = [](const Values& engine, std::int64_t) -> std::int64_t {
      throw ConfigError(engine.where("policy"), "nothing pleases it");
    };
  }
  host.policies.add(policy);
  if (what == "twice") {
    host.policies.add(policy);
  }
  if (what.empty()) {
    host.routers.add(last_replica());
  }
}

}  // namespace

extern "C" const PluginDescription* inferometer_plugin() {
  static PluginDescription description;
  const std::string what = fault();
  description = {kPluginInterface, kPluginStandardLibrary, plugin_sources_digest(), register_test_entries};
  if (what == "interface") {
    // As a later version might have it: what follows is not where this version looks for it.
    description = {kPluginInterface + 1, nullptr, nullptr, nullptr};
  } else if (what == "standard library") {
    description.standard_library = "libstdc++ 3";
  } else if (what == "sources") {
    description.sources_digest = "0123";
  }
  return &description;
}
