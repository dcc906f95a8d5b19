#pragma once

// The tables of a plan's page. Their numbers name the fields of plan.json that they show. Each is absent when
// it would have no row.

#include <optional>

#include "sim/report/page/page.hpp"
#include "sim/report/study_provenance.hpp"
#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// Every limit against what the answer (without one: the nearest miss) has.
std::optional<TableBlock> target_table(const PlanResult& plan);

/// What beats all others in something.
std::optional<TableBlock> front_table(const PlanResult& plan);

/// Rates that shapes sustain, and what ends them.
std::optional<TableBlock> rate_table(const PlanResult& plan);

/// Shapes that were simulated, in their smallest size that meets, else in the largest that was tried.
std::optional<TableBlock> simulated_table(const PlanResult& plan);

/// Shapes that need no run, and why.
std::optional<TableBlock> unsimulated_table(const PlanResult& plan);

std::optional<TableBlock> sensitivity_table(const PlanResult& plan);

std::optional<TableBlock> input_table(const StudyProvenance& provenance);

}  // namespace inferometer
