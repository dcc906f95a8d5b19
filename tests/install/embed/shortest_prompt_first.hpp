#pragma once

#include "sim/scheduler/batch_policy.hpp"

inferometer::PolicyEntry shortest_prompt_first_policy();
