#!/usr/bin/python3
"""kazoo's Lock, ReadLock and WriteLock (Debian: python3-kazoo) and ours in kazoo's layout keep each other out. Run by hand; not part of the build.

    bin/conclave-server start-foreground conf/zoo.cfg      # from the distribution folder; or a ZooKeeper
    /usr/bin/python3 proofs/src/test/scripts/kazoo_lock_check.py 127.0.0.1:2181 java -cp <test class path of proofs>

Prints one line a check, and ends with 1 if one failed.
"""
import subprocess
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

HOSTS, JAVA = sys.argv[1], sys.argv[2:]
PATH = "/kazoo-lock-%d" % time.time()


class Ours:
    def __init__(self):
        self.process = subprocess.Popen(JAVA + ["io.conclave.proofs.interop.LockByHand", "zookeeper://" + HOSTS, PATH],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)

    def __call__(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.process.stdout.readline().strip()
            if answer in ("ok", "timeout") or self.process.poll() is not None:
                return answer


def got(lock):
    try:
        return lock.acquire(timeout=0.5)
    except LockTimeout:
        return False


def main():
    kazoo, ours, failed = KazooClient(hosts=HOSTS), Ours(), []
    kazoo.start()

    def check(name, condition):
        print(("ok      " if condition else "FAILED  ") + name)
        if not condition:
            failed.append(name)

    lock = kazoo.Lock(PATH)
    check("our mutex keeps kazoo's Lock out", ours("mutex") == "ok" and not got(lock))
    check("and lets it in", ours("close") == "ok" and got(lock))
    check("kazoo's Lock keeps our mutex out", ours("mutex") == "timeout")
    lock.release()
    check("and lets it in", ours("mutex") == "ok" and ours("close") == "ok")
    reader, writer = kazoo.ReadLock(PATH), kazoo.WriteLock(PATH)
    check("our reader lets kazoo's in", ours("read") == "ok" and got(reader))
    check("but not its writer", not got(writer))
    reader.release()
    check("which comes after", ours("close") == "ok" and got(writer))
    check("kazoo's writer keeps our reader out", ours("read") == "timeout")
    check("and our writer", ours("write") == "timeout")
    writer.release()
    check("our writer keeps kazoo's reader out", ours("write") == "ok" and not got(reader))
    check("and its writer", not got(writer))
    check("our downgraded writer lets kazoo's reader in", ours("downgrade") == "ok" and got(reader))
    check("but not its writer", not got(writer))
    reader.release()
    check("which comes after", ours("close") == "ok" and got(writer))
    writer.release()
    check("nothing is left", kazoo.get_children(PATH) == [])
    overtaken(kazoo, ours)
    ours.process.stdin.close()
    kazoo.stop()
    sys.exit(1 if failed else 0)


def overtaken(kazoo, ours):
    """Seen, not checked: does a kazoo reader that was woken by one writer wait for the next one, who waits for it?"""
    first, last, read, wrote = kazoo.WriteLock(PATH), kazoo.WriteLock(PATH), threading.Event(), threading.Event()
    first.acquire()
    threading.Thread(target=lambda: kazoo.ReadLock(PATH).acquire() and read.set(), daemon=True).start()
    time.sleep(0.5)
    threading.Thread(target=lambda: last.acquire() and wrote.set(), daemon=True).start()
    time.sleep(0.5)
    first.release()
    print("seen    kazoo alone, writer - reader - writer: after the first, the reader is in: %s, the last writer: %s"
          % (read.wait(2), wrote.is_set()))


main()
