#include "sim/scenario/placement.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace inferometer {
namespace {

/// The largest equal part of a tensor group that a node holds.
std::int64_t part_in_node(std::int64_t tensor, std::int64_t gpus_per_node) {
  std::int64_t part = std::min(tensor, gpus_per_node);
  while (tensor % part != 0) {
    --part;
  }
  return part;
}

class Packer {
 public:
  PlacedPool place(const PlacementRequest& request) {
    PlacedPool pool;
    pool.tensor_in_node = part_in_node(request.tensor, request.gpus_per_node);
    const bool fits_a_node = request.tensor * request.pipeline <= request.gpus_per_node;
    for (std::int64_t replica = 0; replica < request.replicas; ++replica) {
      Room& room = room_of(request);
      if (!fits_a_node || room.left < request.tensor * request.pipeline) {
        open_node(room, request);
      }
      std::vector<GpuPlace>& gpus = pool.replicas.emplace_back();
      for (std::int64_t stage = 0; stage < request.pipeline; ++stage) {
        place_stage(room, request, pool.tensor_in_node, gpus);
      }
      const GpuPlace& last_stage = gpus[static_cast<std::size_t>((request.pipeline - 1) * request.tensor)];
      pool.stages_in_node = pool.stages_in_node && gpus.front().node == last_stage.node;
    }
    return pool;
  }

  std::vector<std::size_t> finish() { return std::move(kind_of_node_); }

 private:
  /// What is free on the last node of a kind.
  struct Room {
    std::int32_t node = 0;
    std::int64_t next = 0;
    std::int64_t left = 0;
  };

  Room& room_of(const PlacementRequest& request) { return rooms_[request.kind]; }

  void open_node(Room& room, const PlacementRequest& request) {
    room = {static_cast<std::int32_t>(kind_of_node_.size()), 0, request.gpus_per_node};
    kind_of_node_.push_back(request.kind);
  }

  void place_stage(Room& room, const PlacementRequest& request, std::int64_t part,
                   std::vector<GpuPlace>& gpus) {
    for (std::int64_t placed = 0; placed < request.tensor; placed += part) {
      if (room.left < part || placed > 0) {
        open_node(room, request);
      }
      for (std::int64_t rank = 0; rank < part; ++rank) {
        gpus.push_back({room.node, static_cast<std::int32_t>(room.next++)});
      }
      room.left -= part;
    }
  }

  std::map<std::size_t, Room> rooms_;
  std::vector<std::size_t> kind_of_node_;
};

}  // namespace

Placement place_replicas(const std::vector<PlacementRequest>& requests) {
  Packer packer;
  Placement placement;
  for (const PlacementRequest& request : requests) {
    placement.pools.push_back(packer.place(request));
  }
  placement.kind_of_node = packer.finish();
  return placement;
}

}  // namespace inferometer
