// Tables of aiconfigurator. Rows are written by hand; what they mean follows from the description of the
// tables in calibration/README.md.

#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

using test::complaint_about;
using test::set_of;
using test::sets_of;

const std::string kH100 = "# framework=VLLM;version=0.24.0;device=NVIDIA H100 80GB HBM3;";

/// "gemm bf16 m=16 n=4096 k=4096 0.00531" of each point; the time in ms.
std::vector<std::string> points_of(const Measurements& set) {
  std::vector<std::string> points;
  for (const MeasuredKernel& point : set.points) {
    points.push_back(to_string(point.call));
  }
  return points;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("constant columns of the first line hold for all rows", "[aiconfigurator]") {
  const Measurements set = set_of(kH100 +
                                  "op_name=gemm\n"
                                  "kernel_source,gemm_dtype,m,n,k,latency\n"
                                  "linear,bfloat16,16,4096,4096,0.0125\n"
                                  "cutlass,fp8,128,8192,1024,0.25\n");
  CHECK(set.header.gpu == "h100-sxm");
  CHECK(set.header.device == "NVIDIA H100 80GB HBM3");
  CHECK(set.header.library == "vllm");
  CHECK(set.header.library_version == "0.24.0");
  CHECK(set.header.source == "ai-dynamo/aiconfigurator");
  CHECK(points_of(set) == Lines{"gemm bf16 m=16 n=4096 k=4096", "gemm fp8 m=128 n=8192 k=1024"});
  CHECK(set.points[0].seconds == 12.5e-6);
  CHECK(set.points[1].seconds == 250e-6);
  CHECK(set.points[1].kernel == "cutlass");
  CHECK(set.points[1].where.line == 4);
  CHECK(set.suspects.empty());
  CHECK(set.notes.empty());
}

}  // namespace inferometer
