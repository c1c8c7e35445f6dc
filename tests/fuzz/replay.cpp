// Runs a fuzzer over its corpus, and over mutations of it that a seed fixes, without libFuzzer.
//
// usage: <fuzzer>_replay CORPUS [MUTATIONS [SEED [FIRST]]]
//
// A failure names the file, or the mutation: MUTATIONS=1 with the same SEED and FIRST=<its number> runs that one alone.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::size_t max_input_size = 4096;  // above any frame
constexpr std::size_t max_steps = 6;

char current[256];  // what runs now, for on_crash

extern "C" void on_crash(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, current, std::char_traits<char>::length(current));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U | 1) {
    for (int i = 0; i < 8; ++i) next();
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DU;
  }
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(next() >> 33) % limit; }

 private:
  std::uint64_t state_;
};

std::ptrdiff_t at(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

void change_once(Input& input, const Input& other, Noise& noise) {
  const std::size_t place = noise.below(input.size());
  const auto byte = static_cast<std::uint8_t>(noise.next() >> 56);
  switch (noise.below(7)) {
    case 0:
      if (!input.empty()) input[place] = static_cast<std::uint8_t>(input[place] ^ (1U << noise.below(8)));
      break;
    case 1:
      if (!input.empty()) input[place] = byte;
      break;
    case 2:
      if (!input.empty()) input[place] = noise.below(2) == 0 ? 0x00 : 0xFF;
      break;
    case 3: input.resize(place); break;
    case 4: input.insert(input.begin() + at(place), 1 + noise.below(8), byte); break;
    case 5:
      input.erase(input.begin() + at(place), input.begin() + at(std::min(input.size(), place + 1 + noise.below(8))));
      break;
    case 6: {
      const std::size_t from = noise.below(other.size());
      input.resize(place);
      input.insert(input.end(), other.begin() + at(from), other.end());
      break;
    }
  }
  if (input.size() > max_input_size) input.resize(max_input_size);
}

std::vector<std::filesystem::path> corpus_files(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Input read_input(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run_mutation(const std::vector<Input>& corpus, std::uint64_t seed, std::uint64_t number) {
  Noise noise(seed * 1'000'003 + number);
  Input input = corpus[noise.below(corpus.size())];
  const Input& other = corpus[noise.below(corpus.size())];
  for (std::size_t steps = 1 + noise.below(max_steps); steps > 0; --steps) change_once(input, other, noise);
  std::snprintf(current, sizeof current, "failed: mutation %llu of seed %llu\n",
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(seed));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::uint64_t number_of(int argc, char** argv, int index, std::uint64_t otherwise) {
  return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS [SEED [FIRST]]]\n", argv[0]);
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_crash);
  std::vector<Input> corpus;
  for (const auto& path : corpus_files(argv[1])) {
    std::snprintf(current, sizeof current, "failed: %s\n", path.filename().c_str());
    corpus.push_back(read_input(path));
    LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no corpus\n", argv[1]);
    return 2;
  }
  const std::uint64_t mutations = number_of(argc, argv, 2, 0), seed = number_of(argc, argv, 3, 1);
  const std::uint64_t first = number_of(argc, argv, 4, 0);
  std::printf("%zu files, %llu mutations from %llu of seed %llu\n", corpus.size(),
              static_cast<unsigned long long>(mutations), static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(seed));
  for (std::uint64_t number = first; number < first + mutations; ++number) run_mutation(corpus, seed, number);
  return 0;
}
