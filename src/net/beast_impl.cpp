// Boost.Beast's non-template code, compiled once for the whole program.
#include <boost/beast/src.hpp>
