#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "workloads/lengths.hpp"
#include "workloads/prefix_groups.hpp"
#include "workloads/request.hpp"
#include "workloads/service_classes.hpp"

namespace inferometer {

/// What clients state as the most they want, which some schedulers reserve for. With neither: the output
/// length.
struct MaxNewRule {
  /// The same for every request; a longer output raises it, since that much was allowed.
  std::optional<TokenCount> tokens;
  /// ceil(output * factor); >= 1.
  double factor = 1.0;

  [[nodiscard]] TokenCount max_new(TokenCount output) const;
};

/// What a generated request consists of apart from its number and time: lengths and, when wanted, a beginning
/// that it shares with others, and a class. Used by all generators.
class RequestBodies {
 public:
  explicit RequestBodies(LengthSampler lengths, const MaxNewRule& max_new = {})
      : lengths_(std::move(lengths)), max_new_(max_new) {}
  void share_prefixes(PrefixGroups groups) { prefixes_ = std::move(groups); }
  void divide_into(ServiceClasses classes) { classes_ = std::move(classes); }

  struct Body {
    ContentRun prefix;                   ///< of no tokens: none
    std::uint64_t question_content = 0;  ///< 0: unlike any other
    TokenCount question;                 ///< what comes after the prefix
    TokenCount output, max_new;
    std::int32_t service_class = 0;
    std::int32_t priority = 0;
  };
  /// The next one.
  Body draw();
  [[nodiscard]] const MaxNewRule& max_new_rule() const { return max_new_; }

  /// Fills `request`, reusing its storage, with the next one. It says what its prompt consists of when
  /// prefixes are shared.
  void fill(Request& request, std::int64_t id, TimePoint arrival);

 private:
  LengthSampler lengths_;
  MaxNewRule max_new_;
  std::optional<PrefixGroups> prefixes_;
  std::optional<ServiceClasses> classes_;
};

}  // namespace inferometer
