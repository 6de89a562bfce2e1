#!/usr/bin/python3
"""kazoo (Debian: python3-kazoo), as it is, on a running server. Run by hand; not part of the build.

    bin/conclave-server start-foreground conf/zoo.cfg      # from the distribution folder
    /usr/bin/python3 proofs/src/test/scripts/kazoo_check.py 127.0.0.1:2181

Prints one line a check, and ends with 1 if one failed.
"""
import sys
import threading
import time
import traceback

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoNodeError, NodeExistsError, NoAuthError
from kazoo.security import make_digest_acl

HOSTS = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:2181"
ROOT = "/kazoo-%d" % time.time()


def client(**options):
    made = KazooClient(hosts=HOSTS, timeout=10, **options)
    made.start()
    return made


def nodes(one, two):
    path, stat = one.create(ROOT + "/n", b"1", makepath=True, include_data=True)
    assert stat.version == 0 and path == ROOT + "/n"
    assert one.set(path, b"2").version == 1
    assert two.get(path)[0] == b"2"
    assert one.create(ROOT + "/s-", sequence=True).endswith("s-0000000001")
    for error, call in ((NodeExistsError, lambda: one.create(path)), (NoNodeError, lambda: one.get(ROOT + "/x")),
                        (BadVersionError, lambda: one.set(path, b"", version=7))):
        try:
            call()
            raise AssertionError(error)
        except error:
            pass


def transaction(one, two):
    t = one.transaction()
    t.create(ROOT + "/t", b"t")
    t.set_data(ROOT + "/t", b"u")
    t.check(ROOT + "/t", 1)
    results = t.commit()
    assert results[0] == ROOT + "/t" and results[1].version == 1, results
    t = one.transaction()
    t.delete(ROOT + "/t")
    t.delete(ROOT + "/none")
    kinds = [type(result).__name__ for result in t.commit()]
    assert kinds == ["RolledBackError", "NoNodeError"], kinds
    assert two.exists(ROOT + "/t")


def watches(one, two):
    seen, children = [], []
    one.create(ROOT + "/w", b"0", makepath=True)

    @one.DataWatch(ROOT + "/w")
    def on_data(data, stat):
        seen.append(data)

    @one.ChildrenWatch(ROOT + "/w")
    def on_children(names):
        children.append(sorted(names))

    for value in (b"1", b"2"):
        two.set(ROOT + "/w", value)
        wait(lambda: seen[-1] == value)
    two.create(ROOT + "/w/c")
    wait(lambda: children[-1] == ["c"])
    two.delete(ROOT + "/w", recursive=True)
    wait(lambda: seen[-1] is None)


def lock(one, two):
    first, second = one.Lock(ROOT + "/lock", "one"), two.Lock(ROOT + "/lock", "two")
    assert first.acquire(timeout=10)
    assert not second.acquire(blocking=False)
    taken = threading.Event()
    waiter = threading.Thread(target=lambda: second.acquire() and taken.set(), daemon=True)
    waiter.start()
    wait(lambda: len(first.contenders()) == 2)
    assert first.contenders() == ["one", "two"] and not taken.is_set()
    first.release()
    assert taken.wait(10)
    second.release()


def election(one, two):
    order = []
    gate = threading.Event()

    def lead(name, until):
        order.append(name)
        until.wait(10)

    threads = [threading.Thread(target=one.Election(ROOT + "/election", "one").run, args=(lead, "one", gate))]
    threads[0].start()
    wait(lambda: order == ["one"])
    threads.append(threading.Thread(target=two.Election(ROOT + "/election", "two").run, args=(lead, "two", gate)))
    threads[1].start()
    wait(lambda: one.Election(ROOT + "/election").contenders() == ["one", "two"])
    gate.set()
    for thread in threads:
        thread.join(10)
    assert order == ["one", "two"], order


def counter(one, two):
    def add(which):
        number = which.Counter(ROOT + "/counter")
        for _ in range(20):
            number += 1

    threads = [threading.Thread(target=add, args=(which,)) for which in (one, two)]
    [thread.start() for thread in threads]
    [thread.join(20) for thread in threads]
    assert one.Counter(ROOT + "/counter").value == 40


def access(one, two):
    owner = client(auth_data=[("digest", "alice:secret")])
    owner.create(ROOT + "/private", b"x", acl=[make_digest_acl("alice", "secret", all=True)])
    assert owner.get(ROOT + "/private")[0] == b"x"
    try:
        one.get(ROOT + "/private")
        raise AssertionError("read without permission")
    except NoAuthError:
        pass
    owner.delete(ROOT + "/private")
    owner.stop()


def ephemeral(one, two):
    other = client()
    other.create(ROOT + "/e", ephemeral=True)
    assert one.exists(ROOT + "/e").ephemeralOwner == other.client_id[0]
    other.stop()
    assert not one.exists(ROOT + "/e")


def resume(one, two):
    first = client()
    first.create(ROOT + "/r", ephemeral=True)
    session = first.client_id
    first._connection._socket.shutdown(2)  # the connection goes, the session stays
    wait(lambda: first.connected and first.exists(ROOT + "/r"))
    assert first.client_id[0] == session[0]
    first.stop()


def wait(condition, seconds=10):
    end = time.time() + seconds
    while True:
        try:
            if condition():
                return
        except Exception:
            if time.time() > end:
                raise
        assert time.time() < end, "waited in vain"
        time.sleep(0.02)


def main():
    one, two = client(), client()
    print("server version as kazoo reads it: ", end="")
    try:
        print(one.server_version())
    except Exception as e:
        print("not given: %r" % e)
    failed = 0
    for check in (nodes, transaction, watches, lock, election, counter, access, ephemeral, resume):
        try:
            check(one, two)
            print("ok      " + check.__name__)
        except Exception:
            failed += 1
            print("FAILED  " + check.__name__)
            traceback.print_exc()
    one.delete(ROOT, recursive=True)
    one.stop()
    two.stop()
    sys.exit(1 if failed else 0)


main()
