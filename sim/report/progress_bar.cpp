#include "sim/report/progress_bar.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

constexpr double kFirstDrawSeconds = 1;
constexpr double kSecondsBetweenDraws = 0.1;
constexpr const char* kClearLine = "\r\x1b[K";
constexpr int kNarrowestBar = 10;

std::string time_left(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  return whole < 3600 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                      : fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string progress_line(const Progress& progress, int width) {
  const double rate = static_cast<double>(progress.requests_done) / progress.elapsed_seconds;
  const std::string doing = progress.doing.empty()
                                ? fmt::format("{:.1f} s simulated", to_seconds(progress.simulated))
                                : progress.doing;
  std::string text =
      fmt::format("{}  {} {}/s", doing, grouped(static_cast<std::int64_t>(rate)), progress.unit);
  const auto room = static_cast<std::size_t>(std::max(width, 1));
  if (!progress.requests_in_all || *progress.requests_in_all <= 0) {
    text = fmt::format("{} requests  {}", grouped(progress.requests_done), text);
    return text.substr(0, room);
  }
  const auto all = static_cast<double>(*progress.requests_in_all);
  const double share = std::clamp(static_cast<double>(progress.requests_done) / all, 0.0, 1.0);
  text = fmt::format("{:3.0f} %  {}", 100 * share, text);
  if (rate > 0) {
    text += fmt::format("  {} left", time_left(all * (1 - share) / rate));
  }
  const int bar = std::min(width - static_cast<int>(text.size()) - 3, width / 3);
  if (bar >= kNarrowestBar) {
    const auto full = static_cast<std::size_t>(share * bar);
    text = fmt::format("[{:.<{}}] {}", std::string(full, '#'), bar, text);
  }
  return text.substr(0, room);
}

ProgressBar::ProgressBar(std::ostream& out, bool is_terminal, int width)
    : out_(out), is_terminal_(is_terminal), width_(width), next_draw_seconds_(kFirstDrawSeconds) {
}

void ProgressBar::update(const Progress& progress) {
  if (!is_terminal_ || progress.elapsed_seconds < next_draw_seconds_) {
    return;
  }
  next_draw_seconds_ = progress.elapsed_seconds + kSecondsBetweenDraws;
  is_drawn_ = true;
  out_ << kClearLine << progress_line(progress, width_) << std::flush;
}

void ProgressBar::clear() {
  if (is_drawn_) {
    out_ << kClearLine << std::flush;
    is_drawn_ = false;
  }
}

}  // namespace inferometer
