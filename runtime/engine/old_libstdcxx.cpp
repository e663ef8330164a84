// Functions that newer compilers' headers call and older versions of libstdc++ lack, so that wheels run with those.
// The compiler's eh_ptr.o has the others (CMakeLists.txt); it calls __terminate.
#include <cstdlib>
#include <exception>
#include <new>

namespace std {

[[noreturn]] void __throw_bad_array_new_length() { throw bad_array_new_length(); }

}  // namespace std

namespace __cxxabiv1 {

[[noreturn]] void __terminate(std::terminate_handler handler) noexcept {
  handler();
  std::abort();
}

}  // namespace __cxxabiv1
