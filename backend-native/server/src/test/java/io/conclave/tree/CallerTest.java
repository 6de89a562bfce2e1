package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What ACLs grant, and how much is looked at for that. */
class CallerTest {
    /** As many as the limits of a server let a client have, about. */
    private static final int MANY_IDS = 85;

    private static final int MANY_ENTRIES = 1_500;

    private static List<AuthId> manyIds() {
        return IntStream.range(0, MANY_IDS)
                .mapToObj(i -> new AuthId("digest", "u" + i + ":h"))
                .toList();
    }

    /** One that grants nothing to {@link #manyIds} before its last entry. */
    private static ZnodeAcl longAcl() {
        Stream<AclEntry> others = IntStream.range(1, MANY_ENTRIES)
                .mapToObj(i -> new AclEntry(PermissionBits.ALL, new AuthId("digest", "v" + i + ":h")));
        AclEntry last = new AclEntry(PermissionBits.ALL, manyIds().get(MANY_IDS - 1));
        return new ZnodeAcl(Stream.concat(others, Stream.of(last)).toList());
    }

    /** A list that counts how often one of its ids is looked at. */
    private static final class CountedIds extends AbstractList<AuthId> {
        private final List<AuthId> ids = manyIds();
        private int looks;

        @Override
        public AuthId get(int index) {
            looks++;
            return ids.get(index);
        }

        @Override
        public int size() {
            return ids.size();
        }
    }

    /** Each for each it is a hundred thousand looks: milliseconds, for a request of thirty bytes. */
    @Test
    void eachIdIsLookedAtOnceAndNotForEachEntry() {
        TreeTester tree = new TreeTester().open(1);
        tree.request(1, new TreeOperation.Create("/a", null, longAcl(), ZnodeKind.PERSISTENT));
        CountedIds ids = new CountedIds();
        TreeReads.exists(tree.state, "/a", ids);
        assertTrue(ids.looks <= 2 * MANY_IDS, ids.looks + " looks");
    }

    @Test
    void whatALongListGrantsIsRemembered() {
        int[] looks = {0};
        Caller caller = new Caller(manyIds()) {
            @Override
            int look(ZnodeAcl acl) {
                looks[0]++;
                return super.look(acl);
            }
        };
        List<ZnodeAcl> lists = IntStream.range(0, 100).mapToObj(i -> longAcl()).toList();
        for (int i = 0; i < 10_000; i++) {
            assertTrue(caller.may(lists.get(i % 100), PermissionBits.WRITE));
        }
        assertEquals(100, looks[0]);
    }

    /** If each part of a multi reads each entry anew it is gigabytes. */
    @Test
    void theRangesOfAListAreReadOnceForAllPartsOfAMulti() {
        TreeTester tree = new TreeTester().open(1);
        tree.request(1, new TreeOperation.Create("/a", null, new ZnodeAcl(ranges()), ZnodeKind.PERSISTENT));
        List<AuthId> ids = List.of(new AuthId("ip", "fe80::1"));
        TreeOperation multi = new TreeOperation.Multi(Collections.nCopies(2_000, new TreeOperation.Check("/a", -1)));
        long allocated = AllocatedBytes.of(() -> assertInstanceOf(Result.MultiDone.class, tree.request(1, ids, multi)));
        assertTrue(allocated < 20_000_000, allocated + " bytes were allocated");
    }

    private static List<AclEntry> ranges() {
        Stream<AclEntry> others = IntStream.range(1, MANY_ENTRIES)
                .mapToObj(i -> new AclEntry(PermissionBits.ALL, new AuthId("ip", Integer.toHexString(i) + "::/16")));
        return Stream.concat(others, Stream.of(new AclEntry(PermissionBits.READ, new AuthId("ip", "fe80::/10"))))
                .toList();
    }

    private static final List<String> ADDRESSES = List.of(
            "10.1.2.3", "10.1.2.4", "10.200.0.1", "0.0.0.0", "::1", "fe80::1:2", "fe80:0:0:1::", "1:2:3:4:5:6:7:8");

    private static final List<String> NO_ADDRESSES = List.of("", "10.1.2", "::1::", "10.1.2.3/", "x", "fe80::1%eth0");

    private static String any(Random random, List<String> texts) {
        return texts.get(random.nextInt(texts.size()));
    }

    private static AuthId anyId(Random random, boolean ofEntry) {
        return switch (random.nextInt(ofEntry ? 9 : 8)) {
            case 0 -> new AuthId("ip", any(random, NO_ADDRESSES));
            case 1, 2 -> new AuthId("ip", any(random, ADDRESSES));
            case 3 -> new AuthId("ip", any(random, ADDRESSES) + "/" + random.nextInt(140));
            case 4 -> new AuthId("digest", "u" + random.nextInt(20) + ":h");
            case 5 -> new AuthId(random.nextBoolean() ? "sasl" : "x509", "CN=u" + random.nextInt(10));
            case 6 -> new AuthId(any(random, List.of("", "auth", "digest ", "krb")), "u" + random.nextInt(3));
            case 7 ->
                random.nextInt(10) > 0
                        ? new AuthId("world", "somebody")
                        : random.nextBoolean() ? AuthId.ANYONE : AuthId.SUPER;
            default -> new AuthId("digest", "v" + random.nextInt(1_000) + ":h");
        };
    }

    /** The rules once more, each id for each entry, and addresses as numbers. */
    private static boolean permits(ZnodeAcl acl, List<AuthId> ids, int permissions) {
        return acl.entries().isEmpty()
                || ids.stream().anyMatch(id -> id.scheme().equals("super"))
                || acl.entries().stream()
                        .filter(entry -> (entry.permissions() & permissions) != 0)
                        .anyMatch(entry -> entry.id().equals(AuthId.ANYONE)
                                || ids.stream().anyMatch(id -> matches(entry.id(), id)));
    }

    private static boolean matches(AuthId wanted, AuthId id) {
        return wanted.scheme().equals(id.scheme())
                && switch (wanted.scheme()) {
                    case "digest", "sasl", "x509" -> wanted.id().equals(id.id());
                    case "ip" -> isIn(wanted.id(), id.id());
                    default -> false;
                };
    }

    private static boolean isIn(String range, String address) {
        String[] parts = range.split("/", -1);
        if (parts.length > 2 || !ADDRESSES.contains(parts[0]) || !ADDRESSES.contains(address)) {
            return false;
        }
        byte[] network = bytes(parts[0]);
        byte[] caller = bytes(address);
        int all = network.length * 8;
        int bits = parts.length == 1 ? all : parts[1].isEmpty() ? all + 1 : Integer.parseInt(parts[1]);
        return network.length == caller.length
                && bits <= all
                && new BigInteger(1, network)
                        .shiftRight(all - bits)
                        .equals(new BigInteger(1, caller).shiftRight(all - bits));
    }

    private static byte[] bytes(String address) {
        try {
            return InetAddress.getByName(address).getAddress();
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void longAndShortListsGrantWhatTheirEntriesSayToManyAndFewIds() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int granted = 0;
        for (int i = 0; i < 2_000; i++) {
            List<AuthId> ids = some(random, 7, false);
            Caller caller = new Caller(ids);
            for (int list = random.nextInt(4); list >= 0; list--) {
                List<AclEntry> entries = new ArrayList<>();
                some(random, 14, true).forEach(id -> entries.add(new AclEntry(random.nextInt(32), id)));
                ZnodeAcl acl = new ZnodeAcl(entries);
                for (int permissions : new int[] {1, 2, 4, 8, 16, 17, 1}) {
                    boolean expected = permits(acl, ids, permissions);
                    assertEquals(
                            expected,
                            caller.may(acl, permissions),
                            () -> "seed " + seed + ": " + permissions + " of " + acl + " for " + ids);
                    granted += expected ? 1 : 0;
                }
            }
        }
        assertTrue(granted > 5_000, granted + " were granted, seed " + seed);
    }

    private static List<AuthId> some(Random random, int most, boolean ofEntries) {
        List<AuthId> ids = new ArrayList<>();
        for (int left = random.nextInt(most + 1); left > 0; left--) {
            ids.add(anyId(random, ofEntries));
        }
        return List.copyOf(ids);
    }
}
