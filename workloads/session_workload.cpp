#include "workloads/session_workload.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "workloads/content_ids.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kNoClient = -1;

/// A session under way.
class Conversation {
 public:
  Conversation(SessionScript script, std::int64_t client) : script_(std::move(script)), client_(client) {
    const ContentRun& prefix = script_.opening.prefix;
    if (prefix.tokens > 0) {
      append(prefix);
    }
  }

  [[nodiscard]] std::int64_t number() const { return script_.number; }
  [[nodiscard]] std::int64_t client() const { return client_; }
  [[nodiscard]] bool has_ended() const { return turn_ == script_.turns.size(); }
  /// Of the turn that comes next.
  [[nodiscard]] Duration think() const { return script_.turns[turn_].think; }

  /// Fills in all but number and time of the turn that comes next, and passes it.
  void ask(Request& request) {
    const SessionTurn& turn = script_.turns[turn_];
    const auto number = static_cast<std::int64_t>(turn_);
    const std::uint64_t shared = turn_ == 0 ? script_.opening.question_content : 0;
    append({shared != 0 ? shared : content_id(ContentKind::question, script_.number, number),
            turn.question.count()});
    request.prompt = TokenCount(history_tokens_);
    request.output = turn.output;
    request.max_new = turn.max_new;
    request.session = script_.number;
    request.service_class = script_.opening.service_class;
    request.priority = script_.opening.priority;
    request.content = history_;
    ++turn_;
    request.output_content = has_ended() ? 0 : content_id(ContentKind::answer, script_.number, number);
    if (!has_ended()) {
      append({request.output_content, turn.output.count()});
    }
  }

 private:
  void append(const ContentRun& run) {
    history_.push_back(run);
    history_tokens_ += run.tokens;
  }

  SessionScript script_;
  std::int64_t client_;
  std::size_t turn_ = 0;
  std::vector<ContentRun> history_;
  std::int64_t history_tokens_ = 0;
};

class LiveSessions final : public SessionWorkload {
 public:
  LiveSessions(std::unique_ptr<ArrivalProcess> arrivals, std::optional<Clients> clients,
               SessionScripts scripts, std::int64_t requests)
      : arrivals_(std::move(arrivals)),
        clients_(std::move(clients)),
        scripts_(std::move(scripts)),
        requests_(requests) {
    if (arrivals_) {
      prepare_arrival();
      return;
    }
    for (std::int64_t client = 0; client < clients_->size(); ++client) {
      starts_.push({clients_->begins(client), client});
    }
  }

  std::optional<TimePoint> next_arrival() override {
    const bool can_start = begun_requests_ < requests_ && !starts_.empty();
    if (due_.empty()) {
      return can_start ? std::optional(starts_.top().at) : std::nullopt;
    }
    return can_start ? std::min(starts_.top().at, due_.top().at) : due_.top().at;
  }

  void take(Request& request) override {
    const std::optional<TimePoint> now = next_arrival();
    INFEROMETER_CHECK(now.has_value(), "take() without a request");
    const bool goes_on = !due_.empty() && due_.top().at == *now;
    Conversation conversation = goes_on ? resume() : begin();
    delay_ = goes_on ? std::optional(conversation.think()) : std::nullopt;
    request.id = taken_++;
    request.arrival = *now;
    conversation.ask(request);
    waiting_.emplace(request.id, std::move(conversation));
  }

  void finished(std::int64_t id, TimePoint now) override {
    const auto found = waiting_.find(id);
    INFEROMETER_CHECK(found != waiting_.end(), "a request finishes once, after it was taken");
    Conversation conversation = std::move(found->second);
    waiting_.erase(found);
    if (!conversation.has_ended()) {
      const std::int64_t number = conversation.number();
      due_.push({after_wait(now, conversation.think()), number});
      thinking_.emplace(number, std::move(conversation));
    } else if (clients_) {
      starts_.push({clients_->after_answer(conversation.client(), now), conversation.client()});
    }
  }

  [[nodiscard]] std::optional<Duration> delay() const override { return delay_; }
  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return requests_; }
  [[nodiscard]] Counts counts() const override { return counts_; }

 private:
  /// Something that happens to a client, or to a session of that number.
  struct Event {
    TimePoint at;
    std::int64_t whose;
    bool operator>(const Event& other) const { return std::tie(at, whose) > std::tie(other.at, other.whose); }
  };
  using EventQueue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  void prepare_arrival() {
    if (begun_requests_ < requests_) {
      starts_.push({arrivals_->next(), kNoClient});
    }
  }

  Conversation begin() {
    const std::int64_t client = starts_.top().whose;
    starts_.pop();
    SessionScript script = scripts_.next();
    const auto left = static_cast<std::size_t>(requests_ - begun_requests_);
    ++counts_.begun;
    counts_.cut += script.is_cut && script.turns.size() <= left ? 1 : 0;
    script.turns.resize(std::min(script.turns.size(), left));
    begun_requests_ += static_cast<std::int64_t>(script.turns.size());
    if (arrivals_) {
      prepare_arrival();
    }
    return Conversation(std::move(script), client);
  }

  Conversation resume() {
    const auto found = thinking_.find(due_.top().whose);
    due_.pop();
    Conversation conversation = std::move(found->second);
    thinking_.erase(found);
    return conversation;
  }

  std::unique_ptr<ArrivalProcess> arrivals_;  ///< or
  std::optional<Clients> clients_;
  SessionScripts scripts_;
  std::int64_t requests_;
  std::int64_t begun_requests_ = 0;  ///< turns of all sessions that began
  std::int64_t taken_ = 0;
  Counts counts_;
  std::optional<Duration> delay_;
  EventQueue starts_;                                        ///< sessions that may begin
  EventQueue due_;                                           ///< sessions that go on
  std::unordered_map<std::int64_t, Conversation> thinking_;  ///< by session; looked up, never walked
  std::unordered_map<std::int64_t, Conversation> waiting_;   ///< by request, likewise
};

}  // namespace

std::unique_ptr<SessionWorkload> make_session_workload(std::unique_ptr<ArrivalProcess> arrivals,
                                                       SessionScripts scripts, std::int64_t requests) {
  return std::make_unique<LiveSessions>(std::move(arrivals), std::nullopt, std::move(scripts), requests);
}

std::unique_ptr<SessionWorkload> make_session_workload(Clients clients, SessionScripts scripts,
                                                       std::int64_t requests) {
  return std::make_unique<LiveSessions>(nullptr, std::move(clients), std::move(scripts), requests);
}

}  // namespace inferometer
