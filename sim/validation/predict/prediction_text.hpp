#pragma once

// A prediction on its way from the process that made it.

#include <string>

#include "sim/validation/predict/predict.hpp"

namespace inferometer {

/// Every bit of it as text, and back; bytes of a failure that are no UTF-8 become U+FFFD. Precondition:
/// finite numbers. Reading throws a std::exception for a text that is none.
std::string to_text(const Prediction& prediction);
Prediction prediction_from(const std::string& text);

}  // namespace inferometer
