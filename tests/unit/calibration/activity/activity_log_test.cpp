// Logs in the form of dcgmi dmon (DCGM 3 and 4: dcgmi/DeviceMonitor.cpp of NVIDIA/DCGM), right and wrong.

#include "calibration/activity/activity_log.hpp"

#include "base/error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

const std::string kHeader =
    "#Entity   SMACT        DRAMA        \n"
    "ID                                  \n";

ActivityLog read(const std::string& text) {
  LineSource lines(bytes_in_memory(text), "a.log");
  return read_activity_log(lines);
}

std::string complaint_about(const std::string& text) {
  try {
    read(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("two GPUs with a header again in between") {
  const ActivityLog log = read(
      kHeader + "GPU 0     0.812        0.233        \nGPU 1     0.000        1.000        \n" + kHeader +
      "GPU 0     0.500        0.250        \nGPU 1     N/A          0.1          \n"
      "\n\ndmon was stopped do to receiving a signal\n");
  REQUIRE(log.gpus.size() == 2);
  CHECK(log.notes.empty());
  CHECK(log.gpus[0].name == "GPU 0");
  CHECK(log.gpus[0].rows == 2);
  REQUIRE(log.gpus[0].samples.size() == 2);
  CHECK(log.gpus[0].samples[0].sm == 0.812);
  CHECK(log.gpus[0].samples[0].dram == 0.233);
  CHECK(log.gpus[0].samples[1].row == 1);
  CHECK(log.gpus[0].samples[1].sm == 0.5);
  CHECK(log.gpus[1].name == "GPU 1");
  CHECK(log.gpus[1].rows == 2);
  REQUIRE(log.gpus[1].samples.size() == 1);
  CHECK(log.gpus[1].samples[0].dram == 1);
}

TEST_CASE("a row with N/A takes time and gives no sample") {
  const ActivityLog log = read(kHeader + "GPU 0 N/A N/A\nGPU 0 0.5 N/A\nGPU 0 0.25 0.125\n");
  REQUIRE(log.gpus.size() == 1);
  CHECK(log.gpus[0].rows == 3);
  REQUIRE(log.gpus[0].samples.size() == 1);
  CHECK(log.gpus[0].samples[0].row == 2);
}

TEST_CASE("other columns are passed over by name in whatever order") {
  const ActivityLog log = read(
      "#Entity   POWER        DRAMA        SMACT        GRACT\nID        W\nGPU 0     391.250      0.2       "
      "   0.8  0.9\n");
  REQUIRE(log.gpus.size() == 1);
  CHECK(log.gpus[0].samples[0].sm == 0.8);
  CHECK(log.gpus[0].samples[0].dram == 0.2);
  CHECK(log.notes == std::vector<std::string>{"a.log: columns \"POWER\" and \"GRACT\" passed over"});
}

TEST_CASE("the form of older versions and MIG instances and CRLF") {
  const ActivityLog log =
      read("# Entity  SMACT  DRAMA\r\n      Id\r\n    GPU 0  0.5  0.25\r\n  GPU-I 3  0.25  0.125\r\n");
  REQUIRE(log.gpus.size() == 2);
  CHECK(log.gpus[1].name == "GPU-I 3");
  CHECK(log.gpus[1].samples[0].dram == 0.125);
}

TEST_CASE("mistakes with their places and all of them") {
  CHECK(complaint_about(kHeader + "GPU 0     0.5x         0.2\nGPU 0     0.5          -0.2\nGPU 0     0.5\n"
                                  "GPU 0     0.5          nan\nGPU x     0.5          0.5\nnode gpu01\n") ==
        "a.log:3:11: SMACT is a share from 0 to 1, or N/A; found \"0.5x\"\n"
        "a.log:4:24: DRAMA is a share from 0 to 1, or N/A; found \"-0.2\"\n"
        "a.log:5: expected a GPU and 2 values (\"SMACT\" and \"DRAMA\"), found 3 words; columns whose values "
        "hold "
        "blanks "
        "cannot be told apart\n"
        "a.log:6:24: DRAMA is a share from 0 to 1, or N/A; found \"nan\"\n"
        "a.log:7:5: expected a GPU's number, found \"x\"\n"
        "a.log:8:1: expected a row of a GPU (GPU 0 ...) or a header (#Entity ...), found \"node gpu01\"");
}

TEST_CASE("a share may pass 1 by a twentieth and no more") {
  CHECK(complaint_about(kHeader + "GPU 0 1.05 1\n").empty());
  CHECK(complaint_about(kHeader + "GPU 0 1.051 1\n") ==
        "a.log:3:7: SMACT is a share from 0 to 1, or N/A; found \"1.051\"");
}

TEST_CASE("headers that cannot be right") {
  CHECK(complaint_about("#Entity   SMACT        GRACT\nID\nGPU 0 0.5 0.5\n") ==
        "a.log:1: no column DRAMA (DCGM field 1005); there are \"SMACT\" and \"GRACT\"");
  CHECK(complaint_about("#Entity   SMACT DRAMA SMACT\n") == "a.log:1: two columns SMACT");
  CHECK(complaint_about("GPU 0 0.5 0.5\n") == "a.log:1:1: a row before the header (#Entity ...)");
  CHECK(complaint_about(kHeader + "GPU 0 0.5 0.5\n#Entity DRAMA SMACT\n") ==
        "a.log:4:1: the columns differ from those of line 1: give the two logs apart");
}

TEST_CASE("a log without a sample") {
  const std::string expected =
      "a.log: holds no sample with both SMACT and DRAMA; expected the output of \"dcgmi dmon -e 1002,1005\"";
  CHECK(complaint_about("") == expected);
  CHECK(complaint_about(kHeader) == expected);
  CHECK(complaint_about(kHeader + "GPU 0 N/A 0.5\n") == expected);
}

}  // namespace
}  // namespace inferometer
