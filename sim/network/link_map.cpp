#include "sim/network/link_map.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

// How a GPU is seen, and the order of its endpoints.
enum View : int { from_node, from_leaf, from_afar };
constexpr int kViews = 3;

// More than a network carries in all the time there is, and still an integer.
constexpr double kMostWireBytes = 1e18;

std::string link_name(const char* what, std::int64_t number, const std::string& rest) {
  return what + std::to_string(number) + " " + rest;
}

void check_platform(const Platform& platform) {
  for (const NodeSpec& node : platform.nodes) {
    INFEROMETER_CHECK(node.gpus >= 1 && node.nics >= 1, "a node has GPUs and adapters");
    INFEROMETER_CHECK(node.gpu_bandwidth.count() > 0 && node.nic_bandwidth.count() > 0 &&
                          node.storage_bandwidth.count() > 0,
                      "bandwidths are positive");
    INFEROMETER_CHECK(node.gpu_latency >= Duration(), "latencies are not negative");
  }
  INFEROMETER_CHECK(platform.fabric.nodes_per_leaf >= 1 && platform.fabric.oversubscription >= 1 &&
                        platform.fabric.latency >= Duration(),
                    "figures of the fabric are in range");
  INFEROMETER_CHECK(platform.transfer.efficiency > 0 && platform.transfer.efficiency <= 1 &&
                        platform.transfer.half_size >= Bytes() && platform.transfer.set_up >= Duration(),
                    "figures of transfers are in range");
}

BytesPerSecond sent_by(const NodeSpec& node) {
  return node.nic_bandwidth * static_cast<double>(node.nics);
}

/// (s + half_size) / efficiency: at the full rate of a link they take as long as s at the rate reached.
Bytes wire_bytes(Bytes payload, const TransferSpec& transfer) {
  const double work = static_cast<double>(payload.count()) + static_cast<double>(transfer.half_size.count());
  return Bytes(static_cast<std::int64_t>(std::min(kMostWireBytes, std::ceil(work / transfer.efficiency))));
}

}  // namespace

LinkMap::LinkMap(const Platform& platform) : platform_(platform) {
  check_platform(platform);
  for (std::size_t node = 0; node < platform.nodes.size(); ++node) {
    add_node(platform.nodes[node], static_cast<std::int32_t>(node));
  }
  const auto nodes = static_cast<std::int64_t>(platform.nodes.size());
  const std::int64_t per_leaf = platform.fabric.nodes_per_leaf;
  for (std::int64_t leaf = 0; leaf * per_leaf < nodes; ++leaf) {
    BytesPerSecond sent;
    const std::int64_t first = leaf * per_leaf;
    const std::int64_t last = std::min(nodes, first + per_leaf);
    for (std::int64_t node = first; node < last; ++node) {
      sent += sent_by(platform.nodes[static_cast<std::size_t>(node)]);
    }
    const BytesPerSecond capacity = sent / platform.fabric.oversubscription;
    const std::int32_t up = add_link(link_name("leaf", leaf, "up"), capacity);
    const std::int32_t down = add_link(link_name("leaf", leaf, "down"), capacity);
    for (std::int64_t node = first; node < last; ++node) {
      const std::int64_t gpus = platform.nodes[static_cast<std::size_t>(node)].gpus;
      for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
        const std::int32_t seen =
            endpoint_of({static_cast<std::int32_t>(node), static_cast<std::int32_t>(gpu)}, from_afar);
        Endpoint& endpoint = endpoints_[static_cast<std::size_t>(seen)];
        endpoint.out.push_back(up);
        endpoint.in.insert(endpoint.in.begin(), down);
      }
    }
  }
}

void LinkMap::add_node(const NodeSpec& node, std::int32_t number) {
  const auto name = [number](const char* part, std::int64_t index, const char* direction) {
    return link_name("node", number, part + std::to_string(index) + direction);
  };
  struct TwoWay {
    std::int32_t out, in;
  };
  std::vector<TwoWay> gpus, nics;
  for (std::int64_t gpu = 0; gpu < node.gpus; ++gpu) {
    gpus.push_back({add_link(name("gpu", gpu, " out"), node.gpu_bandwidth),
                    add_link(name("gpu", gpu, " in"), node.gpu_bandwidth)});
  }
  for (std::int64_t nic = 0; nic < node.nics; ++nic) {
    nics.push_back({add_link(name("nic", nic, " out"), node.nic_bandwidth),
                    add_link(name("nic", nic, " in"), node.nic_bandwidth)});
  }
  const std::int32_t storage = add_link(link_name("node", number, "storage"), node.storage_bandwidth);

  first_endpoint_.push_back(static_cast<std::int32_t>(endpoints_.size()));
  for (std::int64_t gpu = 0; gpu < node.gpus; ++gpu) {
    const TwoWay port = gpus[static_cast<std::size_t>(gpu)];
    const TwoWay nic = nics[static_cast<std::size_t>(gpu * node.nics / node.gpus)];
    Endpoint outside{{nic.out}, {nic.in}};
    if (node.nic_shares_gpu_link) {
      outside = {{port.out, nic.out}, {nic.in, port.in}};
    }
    endpoints_.push_back({{port.out}, {port.in}});
    endpoints_.push_back(outside);  // from_leaf
    endpoints_.push_back(outside);  // from_afar: the leaf's own links follow
  }
  endpoints_.push_back({{storage}, {}});
}

std::int32_t LinkMap::add_link(std::string name, BytesPerSecond capacity) {
  links_.push_back({std::move(name), capacity});
  return static_cast<std::int32_t>(links_.size()) - 1;
}

std::int32_t LinkMap::endpoint_of(const GpuPlace& place, int view) const {
  return first_endpoint_[static_cast<std::size_t>(place.node)] + kViews * place.gpu + view;
}

Flow LinkMap::route(const GpuPlace& from, const GpuPlace& to) const {
  const TransferSpec& transfer = platform_.transfer;
  const NodeSpec& node = platform_.nodes[static_cast<std::size_t>(from.node)];
  Flow flow;
  if (from == to) {
    flow.from = flow.to = endpoint_of(from, from_node);
    flow.delay = node.gpu_latency;
    return flow;
  }
  const auto leaf = [this](const GpuPlace& place) { return place.node / platform_.fabric.nodes_per_leaf; };
  const View view = from.node == to.node ? from_node : leaf(from) == leaf(to) ? from_leaf : from_afar;
  flow.from = endpoint_of(from, view);
  flow.to = endpoint_of(to, view);
  flow.delay = transfer.set_up + (view == from_node ? node.gpu_latency : platform_.fabric.latency);
  return flow;
}

Flow LinkMap::storage_route(const GpuPlace& to) const {
  const NodeSpec& node = platform_.nodes[static_cast<std::size_t>(to.node)];
  Flow flow;
  flow.from = endpoint_of({to.node, static_cast<std::int32_t>(node.gpus)}, 0);
  flow.to = endpoint_of(to, from_leaf);
  flow.delay = platform_.transfer.set_up + platform_.fabric.latency;
  return flow;
}

std::vector<Flow> LinkMap::flows(const Transfer& transfer) const {
  INFEROMETER_CHECK(!transfer.to.empty() && transfer.bytes >= Bytes(1), "a transfer brings bytes to GPUs");
  for (const std::span<const GpuPlace> group : {transfer.from, transfer.to}) {
    for (const GpuPlace& place : group) {
      INFEROMETER_CHECK(place.node >= 0 && static_cast<std::size_t>(place.node) < platform_.nodes.size() &&
                            place.gpu >= 0 &&
                            place.gpu < platform_.nodes[static_cast<std::size_t>(place.node)].gpus,
                        "a transfer is between GPUs of the platform");
    }
  }
  const bool from_storage = transfer.from.empty();
  const std::size_t pairs = std::max(transfer.from.size(), transfer.to.size());
  const Bytes share(ceil_div(transfer.bytes.count(), static_cast<std::int64_t>(pairs)));
  std::vector<Flow> flows;
  flows.reserve(pairs);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const GpuPlace& to = transfer.to[pair * transfer.to.size() / pairs];
    Flow flow =
        from_storage ? storage_route(to) : route(transfer.from[pair * transfer.from.size() / pairs], to);
    flow.bytes = share;
    flow.wire = wire_bytes(share, platform_.transfer);
    flows.push_back(flow);
  }
  return flows;
}

std::vector<std::int32_t> LinkMap::path(const Flow& flow) const {
  if (flow.from == flow.to) {
    return {};
  }
  std::vector<std::int32_t> path = endpoints_[static_cast<std::size_t>(flow.from)].out;
  const std::vector<std::int32_t>& in = endpoints_[static_cast<std::size_t>(flow.to)].in;
  path.insert(path.end(), in.begin(), in.end());
  return path;
}

void LinkMeter::add(const Flow& flow, double share) {
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(flow.bytes.count()) * share);
  for (const std::int32_t link : map_.path(flow)) {
    carried_[static_cast<std::size_t>(link)] += bytes;
  }
}

std::vector<LinkUse> LinkMeter::use(TimePoint end) const {
  const double elapsed_s = to_seconds(end.since_start());
  std::vector<LinkUse> use;
  use.reserve(carried_.size());
  for (std::size_t i = 0; i < carried_.size(); ++i) {
    const Link& link = map_.links()[i];
    const double could_carry = link.capacity.count() * elapsed_s;
    use.push_back({link.name, link.capacity, Bytes(carried_[i]),
                   could_carry > 0 ? static_cast<double>(carried_[i]) / could_carry : 0});
  }
  return use;
}

}  // namespace inferometer
