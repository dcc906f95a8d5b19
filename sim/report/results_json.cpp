#include "sim/report/results_json.hpp"

#include <array>
#include <string_view>

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_latency(Json& metrics, const std::string& name,
                 const std::optional<DurationStatistics>& statistics) {
  struct Field {
    const char* prefix;
    double DurationStatistics::*value;
  };
  static constexpr std::array<Field, 9> kFields = {{{"mean", &DurationStatistics::mean_ms},
                                                    {"median", &DurationStatistics::median_ms},
                                                    {"std", &DurationStatistics::std_ms},
                                                    {"min", &DurationStatistics::min_ms},
                                                    {"p50", &DurationStatistics::p50_ms},
                                                    {"p90", &DurationStatistics::p90_ms},
                                                    {"p95", &DurationStatistics::p95_ms},
                                                    {"p99", &DurationStatistics::p99_ms},
                                                    {"max", &DurationStatistics::max_ms}}};
  for (const Field& field : kFields) {
    metrics[std::string(field.prefix) + "_" + name + "_ms"] =
        statistics ? Json((*statistics).*field.value) : Json(nullptr);
  }
}

/// As vLLM names and counts them: the rates are in percent, and by position not.
void add_speculation(Json& metrics, const SpeculationSummary& speculation) {
  constexpr double kPercent = 100;
  metrics["spec_decode_acceptance_rate"] = kPercent * speculation.acceptance_rate;
  metrics["spec_decode_acceptance_length"] = speculation.acceptance_length;
  metrics["spec_decode_num_drafts"] = speculation.counts.drafts;
  metrics["spec_decode_draft_tokens"] = speculation.counts.draft_tokens;
  metrics["spec_decode_accepted_tokens"] = speculation.counts.accepted_tokens;
  metrics["spec_decode_per_position_acceptance_rates"] = speculation.acceptance_by_position;
}

Json metrics_of(const Summary& summary) {
  Json metrics;
  metrics["definitions"] = to_string(summary.definitions);
  metrics["duration"] = summary.duration_seconds;
  metrics["completed"] = summary.completed;
  metrics["failed"] = summary.failed;
  metrics["total_input_tokens"] = summary.total_input_tokens;
  metrics["total_output_tokens"] = summary.total_output_tokens;
  metrics["request_throughput"] = summary.request_throughput;
  metrics["request_goodput"] = or_null(summary.request_goodput);
  metrics["output_throughput"] = summary.output_throughput;
  metrics["total_token_throughput"] = summary.total_token_throughput;
  metrics["max_output_tokens_per_s"] = summary.max_output_tokens_per_second;
  metrics["max_concurrent_requests"] = summary.max_concurrent_requests;
  add_latency(metrics, "ttft", summary.ttft);
  add_latency(metrics, "tpot", summary.tpot);
  add_latency(metrics, "itl", summary.itl);
  if (summary.definitions == MetricDefinitions::aiperf) {
    add_latency(metrics, "icl", summary.icl);
  }
  add_latency(metrics, "e2el", summary.e2el);
  add_latency(metrics, "queue_delay", summary.queue_delay);
  if (summary.speculation) {
    add_speculation(metrics, *summary.speculation);
  }
  return metrics;
}

Json fairness_of(const FairnessSummary& fairness) {
  Json priorities = Json::array();
  for (const PrioritySummary& priority : fairness.priorities) {
    Json json = {{"priority", priority.priority}, {"completed", priority.completed}};
    add_latency(json, "ttft", priority.ttft);
    add_latency(json, "e2el", priority.e2el);
    priorities.push_back(json);
  }
  return {{"normalized_latency_jain_share", or_null(fairness.share)}, {"priorities", priorities}};
}

Json by_reason(const std::vector<RejectionCount>& counts) {
  Json list = Json::array();
  for (const RejectionCount& count : counts) {
    list.push_back({{"reason", count.reason}, {"requests", count.requests}});
  }
  return list;
}

Json requests_of(const Summary& summary) {
  Json json = {{"injected", summary.census.injected},
               {"completed", summary.census.completed},
               {"running", summary.census.running},
               {"waiting", summary.census.waiting},
               {"rejected", summary.census.rejected},
               {"truncated", summary.truncated},
               {"goodput_share", or_null(summary.goodput_share)},
               {"rejections", by_reason(summary.rejections)}};
  if (summary.cluster) {
    json["in_transit"] = summary.census.in_transit;
  }
  return json;
}

Json phase_of(const PhaseSummary& phase) {
  return {{"steps", phase.steps},
          {"busy_s", phase.seconds},
          {"prefill_tokens", phase.prefill_tokens},
          {"decode_tokens", phase.decode_tokens},
          {"mfu_share", or_null(phase.mfu)},
          {"mbu_share", or_null(phase.mbu)}};
}

Json steps_of(const ResourceSummary& summary) {
  return {{"all", phase_of(summary.all_phases)},
          {"prefill", phase_of(summary.phases[static_cast<std::size_t>(StepPhase::prefill)])},
          {"decode", phase_of(summary.phases[static_cast<std::size_t>(StepPhase::decode)])},
          {"mixed", phase_of(summary.phases[static_cast<std::size_t>(StepPhase::mixed)])}};
}

Json level_of(const LevelSummary& level) {
  return {{"mean_busy", level.mean_busy}, {"mean_total", level.mean_total}, {"peak", level.peak}};
}

Json swaps_of(const KvSwapSummary& swap) {
  return {{"swapped_out", swap.counts.swapped_out},
          {"swapped_in", swap.counts.swapped_in},
          {"recomputed_without_space", swap.counts.recomputed},
          {"swapped_out_blocks", swap.counts.out_blocks},
          {"swapped_in_blocks", swap.counts.in_blocks},
          {"swapped_out_bytes", swap.out_bytes.count()},
          {"swapped_in_bytes", swap.in_bytes.count()},
          {"copying_s", to_seconds(swap.counts.copying)}};
}

Json engine_of(const Summary& summary) {
  Json engine = {{"preemptions", summary.preemptions},
                 {"recomputed_tokens", or_null(summary.recomputed_tokens)},
                 {"decoding_requests", level_of(summary.batch_size)},
                 {"running_requests", level_of(summary.running)},
                 {"waiting_requests", level_of(summary.waiting)},
                 {"kv_capacity_blocks", summary.kv_blocks},
                 {"kv_held_blocks", level_of(summary.kv_occupancy_blocks)}};
  if (summary.kv_swap) {
    engine["swaps"] = swaps_of(*summary.kv_swap);
  }
  return engine;
}

Json sources_of(const PrefixSources& sources) {
  return {{"total", sources.total()},
          {"own_request", sources.own},
          {"own_session", sources.session},
          {"others", sources.others}};
}

Json tier_of(const KvTierSummary& tier, const KvOffloadSummary& offload) {
  const KvTierCounts& counts = tier.counts;
  return {{"loads", counts.loads},
          {"loaded_tokens", counts.loaded_blocks * offload.block_size},
          {"loaded_bytes", (offload.block_bytes * counts.loaded_blocks).count()},
          {"load_link_busy_share", tier.load_share},
          {"load_waiting_s", to_seconds(counts.load_waiting)},
          {"stored_tokens", counts.stored_blocks * offload.block_size},
          {"stored_bytes", (offload.block_bytes * counts.stored_blocks).count()},
          {"store_link_busy_share", tier.store_share}};
}

Json kv_offload_of(const Summary& summary) {
  const KvOffloadSummary& offload = *summary.kv_offload;
  PrefixSources found;
  if (summary.prefixes) {
    found = summary.prefixes->cached + summary.prefixes->recached;
  }
  Json json = {{"hit_tokens", {{"gpu", found.total() - found.below_gpu()}, {"host", found.host}}}};
  json.update(tier_of(offload.host, offload));
  if (offload.disk) {
    json["hit_tokens"]["disk"] = found.disk;
    json["disk"] = tier_of(*offload.disk, offload);
    json["disk"]["lost_tokens"] = offload.disk->counts.lost_blocks * offload.block_size;
  }
  return json;
}

Json prefix_cache_of(const PrefixSummary& prefixes) {
  return {{"hit_rate_share", prefixes.hit_rate},
          {"requests_with_hit", prefixes.requests_with_hit},
          {"cached_tokens", sources_of(prefixes.cached)},
          {"cached_tokens_after_preemption", sources_of(prefixes.recached)},
          {"mean_ttft_ms_with_hit", or_null(prefixes.mean_ttft_ms_hit)},
          {"mean_ttft_ms_without_hit", or_null(prefixes.mean_ttft_ms_miss)}};
}

Json stepper_of(const Report& report) {
  const StepCounts& counts = report.step_counts;
  Json because = {{"the_batch_changes", counts.changing_batch},
                  {"the_policy_promises_nothing", counts.unpromised},
                  {"the_price_has_no_line", counts.without_line},
                  {"the_reference_stepper_runs", counts.by_reference}};
  if (counts.speculating > 0) {
    because["drafts_are_verified"] = counts.speculating;
  }
  return {{"name", report.stepper},          {"events", report.events},
          {"stretches", counts.stretches},   {"steps_in_stretches", counts.in_stretches},
          {"single_steps", counts.single()}, {"single_steps_because", because}};
}

/// Without a pipeline there is no bubble to speak of.
Json time_split_of(const TimeSplit& split) {
  Json json = {{"compute", split.compute},
               {"bandwidth", split.bandwidth},
               {"communication", split.communication},
               {"latency", split.latency},
               {"host", split.host}};
  if (split.bubble != 0) {
    json["bubble"] = split.bubble;
  }
  json["idle"] = split.idle;
  return json;
}

Json energy_of(const std::optional<Energy>& energy) {
  if (!energy) {
    return nullptr;
  }
  return {{"energy_joules", energy->joules},
          {"power_watts_mean", energy->mean_watts},
          {"joules_per_output_token", or_null(energy->joules_per_output_token)},
          {"joules_per_request", or_null(energy->joules_per_request)}};
}

Json money_of(const std::optional<Money>& money) {
  if (!money) {
    return nullptr;
  }
  return {{"price_dollars_per_hour", money->dollars_per_hour},
          {"cost_dollars", money->dollars},
          {"output_dollars_per_million_tokens", or_null(money->dollars_per_million_output_tokens)},
          {"total_dollars_per_million_tokens", or_null(money->dollars_per_million_tokens)},
          {"dollars_per_thousand_requests", or_null(money->dollars_per_thousand_requests)}};
}

Json pool_of(const PoolSummary& pool) {
  return {{"name", pool.name},
          {"role", pool.role},
          {"replicas", pool.replicas},
          {"gpus_per_replica", pool.gpus},
          {"gpu", pool.gpu},
          {"time_split", time_split_of(pool.time_split)},
          {"steps", steps_of(pool)},
          {"preemptions", pool.preemptions},
          {"decoding_requests", level_of(pool.batch_size)},
          {"running_requests", level_of(pool.running)},
          {"most_waiting_requests", pool.max_waiting},
          {"kv_capacity_blocks", pool.kv_blocks},
          {"kv_held_blocks", level_of(pool.kv_occupancy_blocks)},
          {"extrapolated_share", pool.extrapolated_share},
          {"money", money_of(pool.money)},
          {"energy", energy_of(pool.energy)}};
}

Json cluster_of(const ClusterSummary& cluster) {
  Json transfers = {{"count", cluster.transfers.count},
                    {"aborted", cluster.transfers.aborted},
                    {"carried_bytes", cluster.transfers.bytes.count()}};
  add_latency(transfers, "handover", cluster.transfers.handover);
  return {{"transfers", transfers},
          {"local_prefills", cluster.local_prefills},
          {"lost", by_reason(cluster.lost)},
          {"retries", cluster.retries},
          {"lost_tokens", cluster.lost_tokens},
          {"replica_starts", cluster.replica_starts},
          {"replica_failures", cluster.replica_failures},
          {"replica_drains", cluster.replica_drains},
          {"replica_moves", cluster.replica_moves},
          {"routed_requests", cluster.routed}};
}

/// Those that carried nothing are left out: a node alone has dozens.
Json links_of(const std::vector<LinkUse>& links) {
  Json list = Json::array();
  for (const LinkUse& link : links) {
    if (link.bytes == Bytes(0)) {
      continue;
    }
    list.push_back({{"name", link.name},
                    {"capacity_bytes_per_s", link.capacity.count()},
                    {"carried_bytes", link.bytes.count()},
                    {"utilization_share", link.utilization}});
  }
  return list;
}

void add_cluster(Json& json, const Summary& summary) {
  if (!summary.cluster) {
    return;
  }
  Json pools = Json::array();
  for (const PoolSummary& pool : summary.pools) {
    pools.push_back(pool_of(pool));
  }
  json["pools"] = pools;
  json["cluster"] = cluster_of(*summary.cluster);
  json["links"] = links_of(summary.cluster->links);
}

Json stability_of(const StabilityReport& stability) {
  return {{"queue", to_string(stability.verdict)},
          {"sentence", stability.sentence},
          {"offered_requests_per_s", stability.offered_per_second},
          {"growth_share", or_null(stability.growth_share)},
          {"load_share", or_null(stability.load)}};
}

Json slo_of(const SloReport& slo) {
  Json verdicts = Json::array();
  for (const SloVerdict& verdict : slo.verdicts) {
    verdicts.push_back({{"name", verdict.name},
                        {"unit", verdict.unit()},
                        {"value", or_null(verdict.value)},
                        {"limit", verdict.limit},
                        {"met", verdict.met},
                        {"over_share", or_null(verdict.over)}});
  }
  return verdicts;
}

Json cost_model_of(const Report& report) {
  Json extrapolations = Json::array();
  for (const Extrapolation& beyond : report.cost_basis.extrapolations) {
    extrapolations.push_back({{"kernel", beyond.kernel},
                              {"axis", beyond.axis},
                              {"value", beyond.value},
                              {"measured", beyond.measured},
                              {"factor", beyond.factor()}});
  }
  const std::string& profile = report.cost_basis.profile;
  return {{"level", to_string(report.cost_basis.level)},
          {"profile", profile.empty() ? Json(nullptr) : Json(profile)},
          {"extrapolated_share", report.summary.extrapolated_share},
          {"extrapolated", extrapolations}};
}

Json uncertainty_of(const std::optional<Uncertainty>& uncertainty) {
  if (!uncertainty) {
    return nullptr;
  }
  Json metrics = Json::object();
  for (const MetricInterval& interval : uncertainty->intervals) {
    metrics[interval.metric] = {interval.low, interval.high};
  }
  return {{"runs", uncertainty->runs},
          {"interval", {Uncertainty::kLow, Uncertainty::kHigh}},
          {"replayed_requests", uncertainty->replayed_requests},
          {"simulated_steps", uncertainty->simulated_steps},
          {"metrics", metrics}};
}

Json sensitivity_of(const std::optional<Sensitivity>& sensitivity) {
  if (!sensitivity) {
    return nullptr;
  }
  Json metrics = Json::object();
  for (const MovedMetric& moved : sensitivity->metrics) {
    metrics[moved.metric] = {{"minus", moved.minus}, {"plus", moved.plus}};
  }
  return {{"step_time", sensitivity->step_time}, {"metrics", metrics}};
}

Json inputs_of(const std::vector<InputFile>& inputs) {
  Json list = Json::array();
  for (const InputFile& input : inputs) {
    list.push_back({{"name", input.name}, {"hash", input.hash}, {"size_bytes", input.bytes}});
  }
  return list;
}

}  // namespace

std::string results_json(const Report& report) {
  Json json;
  json["schema_version"] = kResultsSchemaVersion;
  json["program"] = {{"name", "inferometer"}, {"version", report.program_version}};
  json["scenario"] = report.scenario;
  json["partial"] = report.summary.partial;
  json["notes"] = report.notes;
  json["metrics"] = metrics_of(report.summary);
  json["uncertainty"] = uncertainty_of(report.uncertainty);
  json["sensitivity"] = sensitivity_of(report.sensitivity);
  json["slo"] = slo_of(report.slo);
  json["stability"] = stability_of(report.summary.stability);
  if (report.summary.fairness.matters) {
    json["fairness"] = fairness_of(report.summary.fairness);
  }
  json["requests"] = requests_of(report.summary);
  json["time_split"] = time_split_of(report.summary.time_split);
  json["steps"] = steps_of(report.summary);
  json["engine"] = engine_of(report.summary);
  if (report.summary.prefixes) {
    json["prefix_cache"] = prefix_cache_of(*report.summary.prefixes);
  }
  if (report.summary.kv_offload) {
    json["kv_offload"] = kv_offload_of(report.summary);
  }
  add_cluster(json, report.summary);
  json["stepper"] = stepper_of(report);
  json["money"] = money_of(report.summary.money);
  json["energy"] = energy_of(report.summary.energy);
  json["cost_model"] = cost_model_of(report);
  json["deployment"] = report.deployment;
  json["inputs"] = inputs_of(report.inputs);
  json["resolved_scenario"] = report.resolved_scenario;
  return json.dump(2) + "\n";
}

}  // namespace inferometer
