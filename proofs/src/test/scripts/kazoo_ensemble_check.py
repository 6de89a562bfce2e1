#!/usr/bin/python3
"""kazoo (Debian: python3-kazoo), as it is, on an ensemble whose leader is killed. EnsembleClientsIT runs it where kazoo is installed; by hand:

    /usr/bin/python3 proofs/src/test/scripts/kazoo_ensemble_check.py 127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183

It prints "ready", waits for a line on its standard input that says that the leader was killed, and prints one line a check; ends with 1 if one failed.
"""
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.retry import KazooRetry

HOSTS = sys.argv[1]
ROOT = "/kazoo-%d" % time.time()
PATIENCE = 60


def client():
    made = KazooClient(hosts=HOSTS, timeout=20, connection_retry=KazooRetry(max_tries=-1, max_delay=1),
                       command_retry=KazooRetry(max_tries=-1, max_delay=1))
    made.start(timeout=PATIENCE)
    return made


def main():
    one, two, failed = client(), client(), []

    def check(name, condition):
        print(("ok      " if condition else "FAILED  ") + name, flush=True)
        if not condition:
            failed.append(name)

    session = one.client_id[0]
    one.create(ROOT + "/data", b"1", makepath=True)
    one.create(ROOT + "/ephemeral", b"", ephemeral=True)
    lock = one.Lock(ROOT + "/lock", "one")
    lock.acquire(timeout=PATIENCE)
    fired = threading.Event()
    one.get(ROOT + "/data", watch=lambda event: fired.set())
    print("ready", flush=True)
    sys.stdin.readline()

    two.retry(two.set, ROOT + "/data", b"2")
    check("a write goes on", two.retry(two.get, ROOT + "/data")[0] == b"2")
    check("the watch fires", fired.wait(PATIENCE))
    check("the session is the same", one.retry(one.exists, ROOT) is not None and one.client_id[0] == session)
    check("the ephemeral is there", two.retry(two.exists, ROOT + "/ephemeral").ephemeralOwner == session)
    other = two.Lock(ROOT + "/lock", "two")
    check("the lock is held", lock.is_acquired and not two.retry(other.acquire, blocking=False))
    lock.release()
    check("the lock is handed on", other.acquire(timeout=PATIENCE))
    one.stop()
    two.stop()
    sys.exit(1 if failed else 0)


main()
