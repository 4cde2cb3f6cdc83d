# SPDX-License-Identifier: Apache-2.0
# Toolchain of the preset `aarch64`: Debian's cross compiler, and libraries of its architecture arm64 installed beside
# those of this machine (tools/install-deps --cross). What the build runs itself, and its tests, run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# pkg-config sees the other architecture's modules alone: what is missing there must not be found here.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
