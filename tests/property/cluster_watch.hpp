#pragma once

// What must be true of a cluster between two events, found by walking everything that is there.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/random_cluster.hpp"

namespace inferometer::testing {

class ClusterWatch {
 public:
  /// Both outlive it.
  ClusterWatch(const RandomCluster& cluster, const Simulation& simulation);

  /// To be called after every event.
  void look();
  /// To be called when nothing is left to happen.
  void look_at_end();

  /// The first sentence that was not true; empty when all were.
  [[nodiscard]] const std::string& broken() const { return broken_; }
  void require(bool holds, const char* sentence);

  /// Micro-batches of one replica seen in flight at once, at most.
  [[nodiscard]] std::int64_t most_lanes_at_once() const { return most_lanes_; }
  [[nodiscard]] std::int64_t most_held() const { return most_held_; }

 private:
  struct Member {
    std::size_t first = 0, count = 0;  ///< lanes
  };
  /// Of a replica, by state of its sequences.
  struct Tally {
    std::int64_t running = 0, waiting = 0, expected = 0, loading = 0, ready = 0, handed_over = 0;
    std::int64_t from_host = 0;  // whose KV comes back from host memory
    std::int64_t swapped = 0, held_blocks = 0, swap_blocks = 0, tokens = 0, prefill_left = 0;

    [[nodiscard]] std::int64_t here() const {
      return running + waiting + expected + loading + ready + from_host + swapped;
    }
  };

  [[nodiscard]] const Replica& lane(const Member& member, std::size_t number = 0) const {
    return simulation_.lanes()[member.first + number];
  }
  [[nodiscard]] bool is_running(const Member& member) const;
  void look_at_replica(std::int32_t replica);
  [[nodiscard]] Tally tally(const Member& member);
  void look_for_idlers();
  [[nodiscard]] bool has_work(std::size_t lane);

  const RandomCluster& cluster_;
  const Simulation& simulation_;
  std::vector<Member> members_;                        // by replica
  std::vector<std::unique_ptr<BatchPolicy>> shadows_;  // by lane: asked what theirs would do
  std::vector<std::int64_t> max_num_seqs_;             // by lane
  TimePoint last_;
  bool has_idler_ = false;  // somebody has work and does nothing as of last_
  std::string broken_;
  std::int64_t most_lanes_ = 0, most_held_ = 0;
  std::int64_t promised_ = 0;  // requests counted on a replica that they have not reached
  StepPlan plan_;
};

}  // namespace inferometer::testing
