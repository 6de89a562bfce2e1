#!/usr/bin/python3
"""Runs an example of docs/migration.md with kazoo (Debian: python3-kazoo): kazoo_page_example.py <hosts> <file>

Its work says "billing", and lasts until a line comes. Ends with 1 if the example fails.
"""
import sys

from kazoo.client import KazooClient

HOSTS, EXAMPLE = sys.argv[1:]


class Billing:
    def run(self):
        print("billing", flush=True)
        sys.stdin.readline()


def main():
    client = KazooClient(hosts=HOSTS)
    client.start()
    with open(EXAMPLE) as example:
        exec(compile(example.read(), EXAMPLE, "exec"), {"client": client, "billing": Billing()})
    client.stop()


main()
