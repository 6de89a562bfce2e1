#!/usr/bin/python3
"""kazoo (Debian: python3-kazoo), as it is, at a port with TLS that wants certificates of clients and does not need them.

    kazoo_tls_check.py localhost:2281 trust.pem bob.pem others.pem

The files: who signs the server's certificate, a client's key and certificate for CN=bob, and an authority that the server
is not of. Prints one line a check, and ends with 1 if one failed.
"""
import sys
import traceback

from kazoo.client import KazooClient
from kazoo.exceptions import InvalidACLError, NoAuthError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.security import CREATOR_ALL_ACL

HOSTS, TRUST, BOB, OTHERS = sys.argv[1:5]
opened = []


def client(patience=60, **options):
    made = KazooClient(hosts=HOSTS, timeout=20, use_ssl=True, **options)
    opened.append(made)
    made.start(timeout=patience)
    return made


def refused(error, call):
    try:
        call()
    except error:
        return
    raise AssertionError("no %s" % error.__name__)


def without_certificate():
    nobody = client(ca=TRUST)
    nobody.create("/kazoo", b"1")
    assert nobody.get("/kazoo")[0] == b"1"
    refused(InvalidACLError, lambda: nobody.create("/mine", b"", acl=CREATOR_ALL_ACL))


def with_certificate():
    bob = client(ca=TRUST, certfile=BOB, keyfile=BOB)
    bob.create("/bobs", b"2", acl=CREATOR_ALL_ACL)
    owner = bob.get_acls("/bobs")[0][0].id
    assert (owner.scheme, owner.id) == ("x509", "CN=bob"), owner
    assert bob.get("/bobs")[0] == b"2"
    refused(NoAuthError, lambda: client(ca=TRUST).get("/bobs"))


def lock():
    one = client(ca=TRUST, certfile=BOB, keyfile=BOB).Lock("/locks/kazoo")
    other = client(ca=TRUST).Lock("/locks/kazoo")
    assert one.acquire(timeout=60)
    assert not other.acquire(blocking=False)
    one.release()
    assert other.acquire(timeout=60)


def of_another_authority():
    refused(KazooTimeoutError, lambda: client(patience=4, ca=OTHERS))


failed = False
for check in (without_certificate, with_certificate, lock, of_another_authority):
    try:
        check()
        print("ok " + check.__name__, flush=True)
    except Exception:
        failed = True
        print("failed " + check.__name__ + ": " + traceback.format_exc().replace("\n", " | "), flush=True)
for each in opened:
    each.stop()
sys.exit(1 if failed else 0)
