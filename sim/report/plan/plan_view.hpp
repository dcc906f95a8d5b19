#pragma once

// What of a plan's result is shown, and in which order: for its terminal text and its page.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// An assessment by where it stands: `shapes[shape].assessments[assessment]`.
struct AssessmentPlace {
  std::size_t shape = 0, assessment = 0;

  friend bool operator==(const AssessmentPlace&, const AssessmentPlace&) = default;
};

const Assessment& at(const PlanResult& plan, AssessmentPlace place);

/// Its path in plan.json: "shapes.3.assessments.1".
std::string json_path(AssessmentPlace place);

/// The answer's smallest size that meets the SLO; absent when there is no answer.
std::optional<AssessmentPlace> answer_place(const PlanResult& plan);

/// What stands for a shape: its smallest size that meets; of one that was sized in vain the largest that
/// missed. Absent for the others, of which a size may have been run all the same, to see what else the answer
/// could have been.
std::optional<AssessmentPlace> shown_place(const PlanResult& plan, std::size_t shape);

/// Of what missed, what missed by least: of sizes that kept up with the traffic, if there are any, that whose
/// worst target is least over its limit, then the cheaper one. Absent when nothing was simulated.
std::optional<AssessmentPlace> nearest_miss(const PlanResult& plan);

/// Shapes that meet, by cost of their smallest size.
std::vector<std::size_t> shapes_that_meet(const PlanResult& plan);

struct FateGroup {
  ShapeFate fate{};
  std::vector<std::size_t> shapes;
};

/// The other ones by fate: those sized in vain first, and among them what missed by least; the rest in the
/// study's order. Groups without a shape are left out.
std::vector<FateGroup> shapes_that_do_not(const PlanResult& plan);

/// Shapes that shown_place() has something for, in that order: shapes_that_meet(), then those sized in vain.
std::vector<std::size_t> sized_shapes(const PlanResult& plan);

/// Keys in whose values the shapes differ, in the study's order.
std::vector<std::string> keys_that_vary(const PlanResult& plan);

/// A size by these keys alone, where there is little room: "3 x h100-sxm / 4 / 512"; by the shape's name
/// without keys.
std::string short_name(const ShapeResult& shape, std::int64_t units, const std::vector<std::string>& keys);

/// Its power while it serves the traffic, where that is known, else the limits of its GPUs.
double mean_watts(const Assessment& assessment);

/// Assessments on which another set of seeds might decide otherwise, those that matter to the answer first:
/// its own, and misses of what costs less.
struct CloseCall {
  AssessmentPlace place;
  bool matters = false;
};
std::vector<CloseCall> close_calls(const PlanResult& plan);

/// Whether queues grew in it: its latencies then are no steady state.
bool is_saturated(const Assessment& assessment);

/// "64 sizes of 8 shapes; 24 runs told them apart".
std::string effort_in_words(const PlanResult& plan);

/// What the reader should know of how sure the result is: a sentence without a full stop. A warning may
/// change what is bought.
struct Caveat {
  std::string sentence;
  bool is_warning = false;
};

/// Warnings first.
std::vector<Caveat> caveats(const PlanResult& plan);

}  // namespace inferometer
