#pragma once

// What a page carries besides its contents. The build makes the functions from files
// (cmake/embed_files.cmake).

#include <string>
#include <string_view>

namespace inferometer {

/// Chart.js 3 of the distribution, as it is, with its notices; "" in a build without: pages then have tables
/// only.
std::string_view chart_library();

std::string_view page_style();   ///< assets/report.css
std::string_view page_script();  ///< assets/report.js: draws the charts of chart_json()

}  // namespace inferometer
