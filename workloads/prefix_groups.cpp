#include "workloads/prefix_groups.hpp"

#include "base/check.hpp"
#include "workloads/content_ids.hpp"

namespace inferometer {

namespace {

/// Quantiles are asked for in (0, 1): the middle of the 2^53 parts that uniform() has numbers for.
double inner_uniform(RandomStream& stream) {
  constexpr double kHalfPart = 0x1p-54;
  return stream.uniform() + kHalfPart;
}

}  // namespace

PrefixGroups::PrefixGroups(const PrefixGroupOptions& options, std::uint64_t seed)
    : questions_per_group_(options.questions_per_group),
      group_stream_(seed, "workload/shared_prefix/group"),
      question_stream_(seed, "workload/shared_prefix/question") {
  INFEROMETER_CHECK(options.groups >= 1 && options.groups <= kLongestLength, "prefixes have groups");
  RandomStream lengths(seed, "workload/shared_prefix/length");
  for (std::int64_t group = 0; group < options.groups; ++group) {
    prefix_tokens_.push_back(options.prefix->quantile(inner_uniform(lengths)).count());
  }
  if (options.skew > 0) {
    ranks_ = make_zipf_length(TokenCount(1), TokenCount(options.groups), options.skew);
  }
}

PrefixGroups::Opening PrefixGroups::next(TokenCount question) {
  const std::int64_t group = ranks_ ? ranks_->quantile(inner_uniform(group_stream_)).count() - 1
                                    : static_cast<std::int64_t>(group_stream_.below(prefix_tokens_.size()));
  Opening opening;
  opening.prefix = {content_id(ContentKind::prefix, group), prefix_tokens_[static_cast<std::size_t>(group)]};
  opening.question = question;
  if (questions_per_group_ > 0) {
    const auto number =
        static_cast<std::int64_t>(question_stream_.below(static_cast<std::uint64_t>(questions_per_group_)));
    opening.question_content = content_id(ContentKind::shared_question, group, number);
    opening.question = asked_.try_emplace(opening.question_content, question).first->second;
  }
  return opening;
}

}  // namespace inferometer
