#include "calibration/measure/open_device.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

/// Which module open_device() takes, until the end of the scope.
class ChosenModule {
 public:
  explicit ChosenModule(const std::string& path) { setenv("INFEROMETER_CUDA_MODULE", path.c_str(), 1); }
  ~ChosenModule() { unsetenv("INFEROMETER_CUDA_MODULE"); }
  ChosenModule(const ChosenModule&) = delete;
  ChosenModule& operator=(const ChosenModule&) = delete;
};

std::string refusal(int index, KernelProvider provider = KernelProvider::inferometer) {
  try {
    open_device(index, provider);
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
  return "opened";
}

bool is_one_line(const std::string& text) {
  return text.find('\n') == std::string::npos;
}

TEST_CASE("a device of another module does what it says there", "[open_device]") {
  const ChosenModule chosen(INFEROMETER_FAKE_MODULE);
  const auto device = open_device(7);
  CHECK(device->full_sm_mhz() == 1234);
  CHECK(device->header().device == "a device of another module, with a name that is no short string");
}

TEST_CASE("a lost device is caught by its type across the border of a module", "[open_device]") {
  const ChosenModule chosen(INFEROMETER_FAKE_MODULE);
  const auto device = open_device(7);
  bool caught = false;
  try {
    device->prepare({}, 1);
  } catch (const DeviceLost& lost) {
    caught = lost.what() == std::string("the bus fell");
  } catch (...) {
  }
  CHECK(caught);
}

TEST_CASE("what the module refuses with is passed on", "[open_device]") {
  const ChosenModule chosen(INFEROMETER_FAKE_MODULE);
  CHECK(refusal(3) == "no GPU 3; there is 1: 7 fake");
  CHECK(refusal(7, KernelProvider::cudnn) == "no cuDNN here");
}

TEST_CASE("without a module the build has no CUDA and the places are named", "[open_device]") {
  // The test program lies where no module is.
  unsetenv("INFEROMETER_CUDA_MODULE");
  const std::string said = refusal(0);
  check_says(said, {"this build has no CUDA", "/inferometer_cuda.so or /", "/inferometer/inferometer_cuda.so",
                    "INFEROMETER_CUDA_MODULE"});
  CHECK(is_one_line(said));
}

TEST_CASE("a chosen module that is not there or is none is named", "[open_device]") {
  const test::TemporaryDirectory folder;
  {
    const ChosenModule chosen(folder.file("absent.so"));
    check_says(refusal(0), {"the CUDA module cannot be loaded", "absent.so"});
  }
  {
    const ChosenModule chosen(folder.write("text.so", "no module at all"));
    check_says(refusal(0), {"the CUDA module cannot be loaded", "text.so"});
  }
  {
    const ChosenModule chosen("libm.so.6");  // any library
    check_says(refusal(0), {"libm.so.6", "is no CUDA module of inferometer"});
  }
}

TEST_CASE("the CUDA module opens a GPU or says in one line why not", "[open_device]") {
  const std::string module = INFEROMETER_CUDA_MODULE_FILE;
  if (module.empty()) {
    WARN("skipped: this build has no CUDA module");
    return;
  }
  const ChosenModule chosen(module);
  const std::string said = refusal(0);
  INFO(said);
  CHECK(is_one_line(said));
  CHECK((said == "opened" || said.starts_with("no NVIDIA driver: ") || said.starts_with("no GPU: ") ||
         said.starts_with("the NVIDIA driver is too old: ") || said.starts_with("GPU 0 ")));
  if (said == "opened") {
    check_says(refusal(1000), {"no GPU 1000; there ", "0 "});
    CHECK(is_one_line(refusal(1000)));
  }
}

TEST_CASE("providers are known by the name that records have", "[open_device]") {
  CHECK(kernel_provider_from("cudnn") == KernelProvider::cudnn);
  CHECK(kernel_provider_from("inferometer") == KernelProvider::inferometer);
  CHECK_FALSE(kernel_provider_from("cuDNN"));
  CHECK_FALSE(kernel_provider_from(""));
  CHECK(to_string(KernelProvider::cudnn) == "cudnn");
}

}  // namespace
}  // namespace inferometer
