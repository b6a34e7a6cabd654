"""seccomp: from now on the kernel refuses this process, in every thread, the calls that no computation needs.

A filter of classic BPF, as ``linux/filter.h`` and ``linux/seccomp.h`` define it; what is refused fails with EPERM.
"""

import ctypes
import platform
import struct
from typing import Final

_CALLS: Final = {
    "x86_64": (
        0xC000003E,
        {"socket": 41, "connect": 42, "bind": 49, "listen": 50, "execve": 59, "execveat": 322, "ptrace": 101,
         "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_send_signal": 424, "pidfd_getfd": 438,
         "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
         "fchownat": 260, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
         "lremovexattr": 198, "fremovexattr": 199, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
         "add_key": 248, "request_key": 249, "keyctl": 250, "mount": 165, "umount2": 166, "pivot_root": 155,
         "chroot": 161, "unshare": 272, "setns": 308, "open_by_handle_at": 304, "bpf": 321,
         "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "kexec_load": 246, "init_module": 175,
         "finit_module": 313, "delete_module": 176},
        16,
    ),
    "aarch64": (
        0xC00000B7,
        {"socket": 198, "connect": 203, "bind": 200, "listen": 201, "execve": 221, "execveat": 281, "ptrace": 117,
         "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_send_signal": 424, "pidfd_getfd": 438,
         "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54, "setxattr": 5,
         "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
         "utimensat": 88, "add_key": 217, "request_key": 218, "keyctl": 219, "mount": 40, "umount2": 39,
         "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268, "open_by_handle_at": 265, "bpf": 280,
         "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "kexec_load": 104, "init_module": 105,
         "finit_module": 273, "delete_module": 106},
        29,
    ),
}  # fmt: skip
"""By machine: the architecture's own mark, the numbers of what is refused, the number of `ioctl`."""
_OF_DRIVERS: Final = ("socket", "connect", "bind", "listen")
"""A driver of a GPU talks with its own services on this machine; where there is one, those of files stay."""
_LOCAL_FAMILIES: Final = (1, 16)
"""AF_UNIX and AF_NETLINK."""
_TYPES_INTO_TERMINAL: Final = (0x5412, 0x541C)
"""Requests of `ioctl` that put what the terminal takes for typed into it: TIOCSTI, TIOCLINUX."""
_OTHER_NUMBERS: Final = 0x40000000
"""Above it lie the calls of x86-64's second table."""
_SET_SECCOMP, _MODE_FILTER = 1, 2
_SYSCALL: Final = {"x86_64": 317, "aarch64": 277}
_ALL_THREADS, _NO_SLOWER_LOADS = 1 << 0, 1 << 2
_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_RETURN = 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_FIRST_ARGUMENT_AT = 16
_SECOND_ARGUMENT_AT = 24
_Instruction = tuple[int, int, int, int]
"""Code, how many to pass over if true, if false, and the number it is about."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_calls(*, has_gpu: bool) -> bool:
    """Refuse them from now on, for ever; False where the kernel or this machine does not offer it.

    Whoever calls it has given up new privileges before.
    """
    machine = platform.machine()
    if machine not in _CALLS:
        return False
    instructions = _instructions(machine, has_gpu=has_gpu)
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    program = _Program(len(instructions), packed)
    library = ctypes.CDLL(None, use_errno=True)
    flags = _ALL_THREADS | _NO_SLOWER_LOADS
    return bool(library.syscall(_SYSCALL[machine], _SET_SECCOMP, flags, ctypes.byref(program)) == 0)


def _instructions(machine: str, *, has_gpu: bool) -> list[_Instruction]:
    """A filter that allows what is not named; each part ends in a decision or falls through to the next."""
    mark, calls, ioctl = _CALLS[machine]
    left = _OF_DRIVERS if has_gpu else ()
    program = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, mark), (_RETURN, 0, 0, _REFUSE)]
    program += [(_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _OTHER_NUMBERS), (_RETURN, 0, 0, _REFUSE)]
    for name, number in calls.items():
        if name not in left:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    if has_gpu:
        program += _unless(calls["socket"], _FIRST_ARGUMENT_AT, _LOCAL_FAMILIES, _ALLOW, _REFUSE)
    program += _unless(ioctl, _SECOND_ARGUMENT_AT, _TYPES_INTO_TERMINAL, _REFUSE, _ALLOW)
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _unless(number: int, argument_at: int, values: tuple[int, ...], then: int, otherwise: int) -> list[_Instruction]:
    """For this call: decide by one of its arguments."""
    tests = [test for value in values for test in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, then))]
    decided = [(_LOAD, 0, 0, argument_at), *tests, (_RETURN, 0, 0, otherwise)]
    return [(_EQUAL, 0, len(decided), number), *decided]
