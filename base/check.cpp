#include "base/check.hpp"

#include <stdexcept>
#include <string>

namespace inferometer {

void check_failed(std::string_view expression, std::string_view file, int line, std::string_view sentence) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + std::string(sentence) +
                         " (" + std::string(expression) + ")");
}

}  // namespace inferometer
