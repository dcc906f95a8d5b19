#pragma once

// The forms of files that read_measurements() knows, one function each. All of them take the lines from the
// first one on, add their mistakes to `errors` and go on, so that a file's mistakes are reported together.

#include "base/text_input/line_source.hpp"
#include "calibration/record/file_contents.hpp"
#include "calibration/record/row_errors.hpp"

namespace inferometer {

/// Tables of ai-dynamo/aiconfigurator: latency in ms; columns that are the same for all rows may stand once
/// in a first line "# framework=VLLM;version=0.24.0;...".
void import_aiconfigurator(LineSource& lines, FileContents& contents, RowErrors& errors);

/// Our own JSON lines, as write_measurements() writes them.
void import_record(LineSource& lines, FileContents& contents, RowErrors& errors);

// Tables of microsoft/vidur: times in ms, in whole microseconds.

/// mlp.csv: linear layers, norms, rotary embedding, activation, residual addition, embedding.
void import_vidur_layers(LineSource& lines, FileContents& contents, RowErrors& errors);
/// attention.csv
void import_vidur_attention(LineSource& lines, FileContents& contents, RowErrors& errors);
/// all_reduce.csv, send_recv.csv
void import_vidur_collectives(LineSource& lines, FileContents& contents, RowErrors& errors);
/// cpu_overheads.csv
void import_vidur_host(LineSource& lines, FileContents& contents, RowErrors& errors);

}  // namespace inferometer
