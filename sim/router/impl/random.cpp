// Random: each replica with the same probability, whatever came before.

#include "base/random.hpp"

#include <memory>

#include "sim/router/builtin.hpp"

namespace inferometer {
namespace {

class Random : public Router {
 public:
  Random(std::uint64_t seed, const std::string& path) : stream_(seed, path) {}

  std::int32_t choose(const Request& request, const RouterView& view) override {
    (void)request;
    return view.candidates()[stream_.below(view.candidates().size())];
  }

 private:
  RandomStream stream_;
};

}  // namespace

RouterEntry random_router() {
  return {
      .name = "random",
      .summary = "Any replica with the same probability: Vidur's random, and that of SGLang's router",
      .keys = {},
      .make = [](const Values& router, std::uint64_t seed,
                 const std::string& path) -> std::unique_ptr<Router> {
        (void)router;
        return std::make_unique<Random>(seed, path);
      },
  };
}

}  // namespace inferometer
