// The loadable module: letters between ranks by MPI. Apart from the one exported function it knows nothing of
// the program.

#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include <mpi.h>

#include "sim/study/executor/mpi_mail.hpp"

namespace inferometer {
namespace {

constexpr int kLetterTag = 1;

class MpiMail final : public RankMail {
 public:
  MpiMail() {
    int granted = MPI_THREAD_SINGLE;  // which will do as long as other threads, if any, leave MPI alone
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  ~MpiMail() override {
    for (Sent& sent : sent_) {
      MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
  }
  MpiMail(const MpiMail&) = delete;
  MpiMail& operator=(const MpiMail&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }

  void send(int to, std::string letter) override {
    Sent& sent = sent_.emplace_back(Sent{std::move(letter), MPI_REQUEST_NULL});
    MPI_Isend(sent.letter.data(), static_cast<int>(sent.letter.size()), MPI_BYTE, to, kLetterTag,
              MPI_COMM_WORLD, &sent.request);
  }

  std::optional<Letter> receive() override {
    forget_arrived();
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kLetterTag, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) {
      return std::nullopt;
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Letter letter{status.MPI_SOURCE, std::string(static_cast<std::size_t>(bytes), '\0')};
    MPI_Recv(letter.bytes.data(), bytes, MPI_BYTE, letter.from, kLetterTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return letter;
  }

 private:
  /// A letter that MPI still reads from, at an address that stays.
  struct Sent {
    std::string letter;
    MPI_Request request;
  };

  void forget_arrived() {
    for (auto sent = sent_.begin(); sent != sent_.end();) {
      int has_arrived = 0;
      MPI_Test(&sent->request, &has_arrived, MPI_STATUS_IGNORE);
      sent = has_arrived != 0 ? sent_.erase(sent) : std::next(sent);
    }
  }

  int rank_ = 0;
  int ranks_ = 1;
  std::list<Sent> sent_;
};

}  // namespace
}  // namespace inferometer

extern "C" __attribute__((visibility("default"))) inferometer::RankMail* inferometer_join_mpi_job(
    int interface_version) {
  return interface_version == inferometer::kMailModuleInterface ? new inferometer::MpiMail : nullptr;
}
