#pragma once

#include <string>

#include "workloads/csv_row_reader.hpp"
#include "workloads/trace_format.hpp"

namespace inferometer {

/// The format of that layout, told by its time, prompt and output columns. A header that has all of these but
/// one, and no fewer than two, is a near miss.
TraceFormat csv_format(std::string name, std::string looks_like, const CsvLayout& layout);

}  // namespace inferometer
