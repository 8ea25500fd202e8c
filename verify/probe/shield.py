"""Lets a run write nowhere but in its room, whatever paths it names.

On Linux a process can have mounts of its own, if need be by way of a user namespace. In these all
is read-only but the folders of the run; what is written to /tmp and to shared memory is kept
apart, and gone with the process. Where the system does not allow that, the run goes on without, and
its report says so.
"""

import ctypes
import os
import sys

NEW_MOUNTS, NEW_USER = 0x20000, 0x10000000
READ_ONLY, BIND, REMOUNT, RECURSIVE, PRIVATE = 1, 4096, 32, 16384, 1 << 18
KEPT = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048}
RELATIVE_TIMES = 1 << 21
CAPABILITIES_OF_64, DROP_FOR_GOOD, MAY_MOUNT = 0x20080522, 24, 21
OF_THE_SYSTEM = ("/dev", "/proc", "/sys")
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108  these are what is shielded
SHARED = os.path.join("/dev", "shm")
MOST_IN_MEMORY = 1 << 30
NOTE = "files outside of its copy were not protected from being written: %s"


def raise_shield(room, record):
    """Lets only these folders be written to from here on; returns why it could not, or nothing."""
    if not sys.platform.startswith("linux"):
        return NOTE % "only Linux can do that"
    try:
        _Shield(ctypes.CDLL(None, use_errno=True)).up(os.path.realpath(room), record)
    except (AttributeError, OSError) as error:
        return NOTE % error
    return ""


def written_to(room):
    """The temporary folders that the run has to itself, and where their files really lie."""
    for place in sorted({os.path.realpath(place) for place in TEMPORARY}):
        upper = os.path.join(_memory_of(place, os.path.realpath(room)), "upper")
        if os.path.isdir(upper):
            yield place, upper


def _memory_of(place, room):
    return os.path.join(room, "memory", place.strip("/").replace("/", "-"))


class _Shield(object):
    def __init__(self, library):
        self._library = library

    def up(self, room, record):
        here = os.getcwd()
        temporary = [place for place in TEMPORARY if os.path.isdir(place)]
        temporary = sorted({os.path.realpath(place) for place in temporary})
        self._begin()
        self._mount("none", "/", PRIVATE | RECURSIVE)
        own = {}
        for folder in (room, os.path.realpath(record)):
            self._mount(folder, folder, BIND)
            # Known by descriptor: the path leads elsewhere once there is another /tmp.
            own[folder] = os.open(folder, os.O_PATH)
        # All before the first is covered: the room may lie in one of them.
        memories = [(place, self._memory(place, room)) for place in temporary]
        for place, memory in memories:
            self._cover(place, memory)
            os.close(memory)
        if os.path.isdir(SHARED):  # what lies there belongs to other processes
            self._mount("tmpfs", SHARED, 0, "tmpfs", "mode=1777,size=%d" % MOST_IN_MEMORY)
        for place, options in list(_mounts()):
            if place not in own and not _is_below(place, OF_THE_SYSTEM + tuple(temporary)):
                self._lock(place, options)
        for folder, descriptor in own.items():
            self._mount("/proc/self/fd/%d" % descriptor, folder, BIND | RECURSIVE)
            os.close(descriptor)
        os.chdir(here)
        self._leave_it_at_that()

    def _leave_it_at_that(self):
        """The script cannot take these mounts away again, even if it is root's."""
        header = (ctypes.c_uint32 * 2)(CAPABILITIES_OF_64, 0)
        sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable; twice 32 of each
        self._call("capget", header, sets)
        for place in range(3):
            sets[place] &= ~(1 << MAY_MOUNT) & 0xFFFFFFFF
        self._call("prctl", DROP_FOR_GOOD, ctypes.c_ulong(MAY_MOUNT), 0, 0, 0)
        self._call("capset", header, sets)

    def _begin(self):
        user, group = os.getuid(), os.getgid()
        try:
            self._call("unshare", NEW_MOUNTS)
        except OSError:
            self._call("unshare", NEW_MOUNTS | NEW_USER)
            self._stay(user, group)

    def _stay(self, user, group):
        """In a user namespace: the same user as before."""
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", "%d %d 1" % (user, user)),
            ("gid_map", "%d %d 1" % (group, group)),
        ):
            with open("/proc/self/" + name, "w") as file:
                file.write(text)

    def _lock(self, place, options):
        kept = sum(flag for name, flag in KEPT.items() if name in options)
        kept |= RELATIVE_TIMES if "relatime" in options else 0
        try:
            self._mount("none", place, BIND | REMOUNT | READ_ONLY | kept)
        except OSError:
            if place == "/":
                raise

    def _memory(self, place, room):
        """Where is kept what is written there; known by descriptor, as the folders of the run."""
        memory = _memory_of(place, room)
        os.makedirs(memory)
        self._mount("tmpfs", memory, 0, "tmpfs", "size=%d" % MOST_IN_MEMORY)
        upper, work = os.path.join(memory, "upper"), os.path.join(memory, "work")
        os.mkdir(upper)
        os.chmod(upper, os.stat(place).st_mode & 0o7777)
        os.mkdir(work)
        return os.open(memory, os.O_PATH)

    def _cover(self, place, memory):
        """What lies there can be read; what is written is kept apart."""
        own = "/proc/self/fd/%d" % memory
        layers = "lowerdir=%s,upperdir=%s/upper,workdir=%s/work" % (place, own, own)
        self._mount("overlay", place, 0, "overlay", layers)

    def _mount(self, source, target, flags, kind=None, data=None):
        self._call(
            "mount",
            source.encode(),
            os.fsencode(target),
            kind and kind.encode(),
            ctypes.c_ulong(flags),
            data and data.encode(),
        )

    def _call(self, name, *arguments):
        if getattr(self._library, name)(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), name)


def _mounts():
    """Where something is mounted, and with which options."""
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            fields = line.split(" ")
            place = fields[4].encode().decode("unicode_escape")
            yield place, fields[5].split(",")


def _is_below(place, folders):
    return any(place == folder or place.startswith(folder + "/") for folder in folders)
