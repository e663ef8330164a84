// What the headers of newer compilers call of libstdc++ and its older libraries lack, for wheels that run with these.
// The rest of it is in the compiler's own eh_ptr.o (CMakeLists.txt), which calls the second.
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
