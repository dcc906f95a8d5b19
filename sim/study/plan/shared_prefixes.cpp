#include "sim/study/plan/shared_prefixes.hpp"

#include <algorithm>

namespace inferometer {

void SharedPrefixes::add(const Request& request) {
  Path& path = paths_.emplace_back();
  path.prompt = request.prompt.count();
  std::int64_t parent = -1;
  std::int64_t begin = 0;
  const auto take = [&](std::uint64_t id, std::int64_t tokens) {
    const auto [place, is_new] =
        numbers_.try_emplace({parent, begin, id}, static_cast<std::int64_t>(runs_.size()));
    if (is_new) {
      runs_.emplace_back();
    }
    Run& run = runs_[static_cast<std::size_t>(place->second)];
    run.second = std::max(run.second, std::min(run.longest, tokens));
    run.longest = std::max(run.longest, tokens);
    path.steps.push_back({place->second, tokens});
    parent = place->second;
    begin += tokens;
  };
  for (const ContentRun& content : request.content) {
    take(content.id, content.tokens);
  }
  if (!request.content.empty() && request.output_content != 0) {
    take(request.output_content, request.output.count());
  }
}

std::vector<std::int64_t> SharedPrefixes::tokens() const {
  std::vector<std::int64_t> all;
  all.reserve(paths_.size());
  for (const Path& path : paths_) {
    all.push_back(tokens_of(path));
  }
  return all;
}

std::int64_t SharedPrefixes::tokens_of(const Path& path) const {
  std::int64_t tokens = 0;
  for (const Step& step : path.steps) {
    const Run& run = runs_[static_cast<std::size_t>(step.run)];
    const std::int64_t others = step.tokens < run.longest ? run.longest : run.second;
    tokens += std::min(step.tokens, others);
    if (others < step.tokens) {
      break;
    }
  }
  return std::min(tokens, path.prompt - 1);
}

}  // namespace inferometer
