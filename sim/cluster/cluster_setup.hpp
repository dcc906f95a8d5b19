#pragma once

// A cluster as the engine runs it: pools of replicas, who gets a request, how prefill and decode are split,
// and what changes while it runs. Plain data, made from a scenario; one replica needs none of it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/network/network.hpp"
#include "sim/router/router.hpp"

namespace inferometer {

enum class PoolRole : std::uint8_t {
  mixed,    ///< prefills and decodes
  prefill,  ///< hands its KV over when a prompt is done
  decode,   ///< takes the KV of prompts that others have done
};
inline constexpr std::size_t kPoolRoles = 3;

std::string_view to_string(PoolRole role);

/// Replicas of one kind. At most one pool of each role; replicas are numbered through, pool by pool.
struct PoolSetup {
  PoolRole role = PoolRole::mixed;
  std::int32_t replicas = 1;  ///< that there are at most
  std::int32_t at_start = 1;  ///< of them, running from the start; the others wait to be started
  std::int32_t pipeline = 1;  ///< micro-batches in flight on each: Replica objects a replica is made of
  std::vector<std::vector<GpuPlace>> places;  ///< GPUs of each replica, ranks of the first stage first
  std::int64_t max_model_len = 0;             ///< of its replicas: longest prompt plus output
  Bytes kv_bytes_per_token;              ///< of a whole replica, all GPUs together: what a transfer carries
  std::int64_t layers = 1;               ///< of the model, for transfers layer by layer
  Bytes weights;                         ///< of a whole replica: what a start loads
  double prefill_tokens_per_second = 0;  ///< of one replica at its best, to foresee a TTFT by
  std::function<std::unique_ptr<Router>()> make_router;
};

/// How a prompt's KV gets from its prefill replica to its decode replica (spec, part 1.7).
struct DisaggregationSetup {
  enum class Transfer : std::uint8_t {
    pull,  ///< the decode replica is chosen and takes blocks when the prompt is done, then fetches all of it
    push,  ///< chosen at arrival; what is computed goes there layer by layer once blocks are held there
  };
  enum class OnAbort : std::uint8_t { recompute, lose };
  enum class LocalPrefill : std::uint8_t {
    never,
    short_prompt,   ///< prompt <= max_local_prefill_tokens
    short_or_busy,  ///< that, or as many prompts wait at the prefill replica as prefill_queue_limit says
    isl_bounding,   ///< what the decode replica has not cached of it is < max_local_prefill_tokens and less
                    ///< than local_share of it
    prefill_load,   ///< the prefill replica has more tokens to compute than prefill_load_tokens
    isl_or_load,    ///< either of the two
  };

  Transfer transfer = Transfer::pull;
  bool first_token_from_decode = false;  ///< the prefill's own token is thrown away, and computed again
  bool decode_first = false;  ///< push only: the prefill begins once the decode replica holds blocks for it
  Duration hop{};             ///< from the end of the prefill to the decode replica's queue
  std::optional<Duration> abort_after;  ///< blocks wait no longer than that to be read
  OnAbort on_abort = OnAbort::recompute;
  LocalPrefill local_prefill = LocalPrefill::never;
  std::int64_t max_local_prefill_tokens = 0;
  double local_share = 1;
  std::int64_t prefill_queue_limit = 0;
  std::int64_t prefill_load_tokens = 0;
  /// Prompt tokens waiting on every prefill replica above which a prompt goes to the mixed pool, or, when
  /// that is as full, borrows a decode replica for it (Splitwise).
  std::optional<std::int64_t> overflow_tokens;

  /// Whether local_prefill asks how much of a prompt the decode replica has cached.
  [[nodiscard]] bool counts_cached_tokens() const {
    return local_prefill != LocalPrefill::never && local_prefill != LocalPrefill::prefill_load;
  }
};

/// What a whole cluster turns away as it arrives.
struct AdmissionSetup {
  std::optional<std::int64_t> max_outstanding;  ///< on each replica that takes requests, on average
  /// Foreseen on the chosen replica: tokens before it, and its own that are not cached there, over its
  /// prefill rate.
  std::optional<Duration> ttft;
};

/// Something that befalls a replica at a set time.
struct ReplicaEvent {
  enum class Kind : std::uint8_t {
    fail,   ///< what it holds is gone
    drain,  ///< takes no more requests, finishes those it has
  };
  TimePoint at;
  Kind kind = Kind::fail;
  std::int32_t replica = 0;
  std::optional<Duration> lasts;  ///< then it starts again; absent: it never does
};

struct FailureSetup {
  bool retry = true;                 ///< elsewhere, from the beginning; false: the requests are lost
  std::vector<ReplicaEvent> events;  ///< by time
};

/// What a replica needs before it takes requests, once it was told to start.
struct StartUpSetup {
  Duration boot{};            ///< process, CUDA graphs, everything but weights
  bool loads_weights = true;  ///< over the network, after the boot
};

/// Keeps the load of each running replica of a pool near a target.
struct AutoscalingSetup {
  PoolRole pool = PoolRole::mixed;
  Duration interval = seconds(10);
  double target_outstanding = 1;  ///< requests per running replica
  double tolerance = 0.1;  ///< share of the target by which the load may differ before anything is done
  std::int32_t fewest = 1, most = 1;
  Duration scale_down_after = seconds(60);  ///< too little load for that long before a replica is drained
};

/// Moves replicas between the pools for prefill and decode, one at a time; each keeps one. A replica first
/// ends what it has begun and takes nothing new: were it to prefill while prompts of others wait for its
/// blocks, two replicas could wait for each other for ever.
struct DynamicSplitSetup {
  Duration interval = seconds(10);
  /// A decode replica goes over when each prefill replica has more than this to work off.
  Duration prefill_backlog = seconds(1);
  /// A prefill replica goes over when the KV blocks of the decode replicas are fuller than this, as a share.
  double decode_fill = 0.9;
};

struct ClusterSetup {
  std::vector<PoolSetup> pools;
  Duration state_interval{};  ///< routers see replicas as of the last multiple of it; 0: as they are
  std::optional<DisaggregationSetup>
      disaggregation;  ///< present exactly when there are prefill and decode pools
  AdmissionSetup admission;
  FailureSetup failures;
  StartUpSetup start_up;
  std::vector<AutoscalingSetup> autoscaling;  ///< at most one a pool
  std::optional<DynamicSplitSetup> dynamic_split;
  std::function<std::unique_ptr<Network>()> make_network;  ///< absent: nothing takes time to cross
};

}  // namespace inferometer
