#include "sim/network/simgrid_engine.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <unordered_map>
#include <utility>

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/log.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

namespace s4u = simgrid::s4u;

/// SimGrid's engine installs handlers for Ctrl-C and crashes, and a stack for them; this puts back those of
/// before.
class SignalKeeper {
 public:
  SignalKeeper() {
    for (std::size_t signal = 1; signal < handlers_.size(); ++signal) {
      known_[signal] = sigaction(static_cast<int>(signal), nullptr, &handlers_[signal]) == 0;
    }
    sigaltstack(nullptr, &stack_);
  }
  ~SignalKeeper() {
    for (std::size_t signal = 1; signal < handlers_.size(); ++signal) {
      if (known_[signal]) {
        sigaction(static_cast<int>(signal), &handlers_[signal], nullptr);
      }
    }
    sigaltstack(&stack_, nullptr);
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  std::array<struct sigaction, NSIG> handlers_{};
  std::array<bool, NSIG> known_{};
  stack_t stack_{};
};

/// Options are those of the process: a second engine may not set them again.
void configure_once() {
  static bool configured = false;
  if (configured) {
    return;
  }
  configured = true;
  for (const char* option : {
           "network/model:CM02",      // bandwidth and latency as they are, no factors from the world of TCP
           "network/crosstraffic:0",  // acknowledgements take nothing from flows the other way
           "network/TCP-gamma:1e30",  // no window that caps a flow (0 would also drop other bounds)
           "network/optim:Lazy",      // Full gives slightly other times
           "surf/precision:1e-15",  // moments closer than that are one; by default 1 ns, and ends come early
       }) {
    s4u::Engine::set_config(std::string(option));
  }
}

std::unique_ptr<s4u::Engine> make_engine() {
  INFEROMETER_CHECK(!s4u::Engine::has_instance(), "a process has one SimGrid network at a time");
  const SignalKeeper keeper;
  // Otherwise every option set is told on stderr.
  xbt_log_control_set("root.threshold:error");
  auto engine = std::make_unique<s4u::Engine>("inferometer");
  configure_once();
  return engine;
}

#if SIMGRID_VERSION_MAJOR >= 4
using EndedActivity = s4u::Comm;  // which has callbacks of its own since 3.33
#else
using EndedActivity = s4u::Activity;
#endif

// SimGrid 4 has new names for what builds a platform, and still knows those of 3.32, which has no others.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
s4u::NetZone& build_zone(const LinkMap& map, std::vector<s4u::Host*>& hosts) {
  s4u::NetZone& zone = *s4u::create_star_zone("cluster");
  std::vector<s4u::Link*> links;
  links.reserve(map.links().size());
  for (const Link& link : map.links()) {
    links.push_back(zone.create_link(link.name, link.capacity.count())->seal());
  }
  const auto route = [&](const std::vector<std::int32_t>& numbers) {
    std::vector<s4u::LinkInRoute> crossed;
    for (const std::int32_t number : numbers) {
      crossed.emplace_back(links[static_cast<std::size_t>(number)]);
    }
    return crossed;
  };
  for (std::size_t i = 0; i < map.endpoints().size(); ++i) {
    constexpr double kUnusedSpeed = 1;
    s4u::Host* host = zone.create_host("endpoint" + std::to_string(i), kUnusedSpeed)->seal();
    const Endpoint& endpoint = map.endpoints()[i];
    zone.add_route(host->get_netpoint(), nullptr, nullptr, nullptr, route(endpoint.out), false);
    zone.add_route(nullptr, host->get_netpoint(), nullptr, nullptr, route(endpoint.in), false);
    hosts.push_back(host);
  }
  zone.seal();
  return zone;
}
#pragma GCC diagnostic pop

}  // namespace

struct SimgridEngine::Impl {
  struct Running {
    s4u::CommPtr comm;
    double wire_bytes = 0;
  };

  explicit Impl(const LinkMap& map) : engine(make_engine()) {
    build_zone(map, hosts);
    engine->seal_platform();
    current = this;
    static const bool listening = [] {
      // For all of the process and for ever: SimGrid 3.32 has no callback of one activity.
      EndedActivity::on_completion_cb([](const EndedActivity& activity) {
        if (current != nullptr) {
          current->note_end(activity);
        }
      });
      return true;
    }();
    (void)listening;
  }

  ~Impl() {
    std::vector<std::uint64_t> tokens;
    for (const auto& [token, flow] : running) {
      tokens.push_back(token);
    }
    cancel(tokens);
    retired.clear();
    current = nullptr;
  }

  void note_end(const EndedActivity& activity) {
    const auto found = token_of.find(&activity);
    if (found == token_of.end()) {
      return;  // cancelled
    }
    ended.push_back(found->second);
    retire(found->second);
  }

  /// A communication may not be let go within its own callback.
  void retire(std::uint64_t token) {
    const auto found = running.find(token);
    token_of.erase(found->second.comm.get());
    retired.push_back(std::move(found->second.comm));
    running.erase(found);
    next_known = false;
  }

  void cancel(std::span<const std::uint64_t> tokens) {
    if (tokens.empty()) {
      return;
    }
    retired.clear();
    for (const std::uint64_t token : tokens) {
      retire(token);
      retired.back()->cancel();
    }
    // Its share of the links is given up only when the engine runs, be it for no time.
    engine->run_until(s4u::Engine::get_clock());
  }

  static inline Impl* current = nullptr;

  std::unique_ptr<s4u::Engine> engine;
  std::vector<s4u::Host*> hosts;  ///< by endpoint
  std::unordered_map<std::uint64_t, Running> running;
  std::unordered_map<const s4u::Activity*, std::uint64_t> token_of;
  std::vector<s4u::CommPtr> retired;  ///< kept until the next call
  std::vector<std::uint64_t> ended;
  bool next_known = false;
  std::optional<double> next;
};

SimgridEngine::SimgridEngine(const LinkMap& map) : impl_(std::make_unique<Impl>(map)) {
}
SimgridEngine::~SimgridEngine() = default;

double SimgridEngine::clock() const {
  return s4u::Engine::get_clock();
}

bool SimgridEngine::idle() const {
  return impl_->running.empty();
}

void SimgridEngine::start(std::uint64_t token, const Flow& flow) {
  impl_->retired.clear();
  s4u::CommPtr comm = s4u::Comm::sendto_init(impl_->hosts[static_cast<std::size_t>(flow.from)],
                                             impl_->hosts[static_cast<std::size_t>(flow.to)]);
  comm->set_payload_size(static_cast<std::uint64_t>(flow.wire.count()));
  impl_->token_of.emplace(comm.get(), token);
  impl_->running.emplace(token, Impl::Running{comm, static_cast<double>(flow.wire.count())});
  impl_->next_known = false;
  comm->start();
}

double SimgridEngine::share_done(std::uint64_t token) const {
  const Impl::Running& flow = impl_->running.at(token);
  return std::clamp(1 - flow.comm->get_remaining() / flow.wire_bytes, 0.0, 1.0);
}

void SimgridEngine::cancel(std::span<const std::uint64_t> tokens) {
  impl_->cancel(tokens);
}

std::optional<double> SimgridEngine::next_end() {
  if (!impl_->next_known) {
    impl_->next_known = true;
    impl_->next.reset();
    for (simgrid::kernel::resource::Model* model : impl_->engine->get_all_models()) {
      const double delta = model->next_occurring_event(clock());
      if (delta >= 0 && (!impl_->next || clock() + delta < *impl_->next)) {
        impl_->next = clock() + delta;
      }
    }
  }
  return impl_->next;
}

void SimgridEngine::run_to(double target) {
  impl_->retired.clear();
  do {
    // Stops at every event, and as soon as it is within 10 us of its target; aborts when that is past.
    impl_->engine->run_until(std::max(target, clock()));
  } while (clock() < target);
}

std::vector<std::uint64_t> SimgridEngine::take_ended() {
  return std::exchange(impl_->ended, {});
}

}  // namespace inferometer
