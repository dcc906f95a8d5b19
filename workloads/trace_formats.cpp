#include "workloads/trace_format.hpp"

namespace inferometer {

TraceFormat aiperf_format();
TraceFormat azure_format();
TraceFormat burstgpt_format();
TraceFormat inferometer_csv_format();
TraceFormat lengths_format();
TraceFormat mooncake_format();
TraceFormat qwen_bailian_format();
TraceFormat vidur_format();

namespace {

Registry<TraceFormat> builtin_formats() {
  Registry<TraceFormat> formats;
  formats.add(inferometer_csv_format());
  formats.add(azure_format());
  formats.add(burstgpt_format());
  formats.add(mooncake_format());
  formats.add(aiperf_format());
  formats.add(qwen_bailian_format());
  formats.add(vidur_format());
  formats.add(lengths_format());
  return formats;
}

}  // namespace

const Registry<TraceFormat>& trace_formats() {
  static const Registry<TraceFormat> formats = builtin_formats();
  return formats;
}

}  // namespace inferometer
