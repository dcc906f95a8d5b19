#pragma once

// The parts of a page as HTML, all but charts (chart_html.hpp). Every string of a page passes html_escaped()
// here.

#include <string>
#include <vector>

#include "sim/report/page/page.hpp"

namespace inferometer {

std::string paragraph_html(const Paragraph& paragraph);

/// Cards, as a list of names and values.
std::string figures_html(const std::vector<KeyFigure>& figures);

/// A table that scrolls within itself where it is wider than the page; columns of numbers are set to the
/// right. Checks that rows are as wide as the header.
std::string table_html(const TableBlock& table);

std::string listing_html(const Listing& listing);

}  // namespace inferometer
