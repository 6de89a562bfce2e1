package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AclUsesTest {
    private static ZnodeAcl acl(int number) {
        return new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, new AuthId("ip", "10.0.0." + number))));
    }

    @Test
    void equalListsAreCountedOnceAndShared() {
        ZnodeAcl first = acl(1);
        AclUses one = AclUses.NONE.with(first);
        AclUses three = one.with(acl(1)).with(acl(1));
        assertTrue(one.bytes() > 0);
        assertEquals(one.bytes(), three.bytes());
        assertSame(first, three.shared(acl(1)));
        assertEquals(2 * one.bytes(), three.with(acl(2)).bytes());
    }

    @Test
    void theLastNodeThatGoesTakesTheListWithIt() {
        AclUses two = AclUses.NONE.with(acl(1)).with(acl(1));
        assertEquals(two.bytes(), two.without(acl(1)).bytes());
        assertEquals(0, two.without(acl(1)).without(acl(1)).bytes());
    }

    @Test
    void openListsTakeNothing() {
        ZnodeAcl open = new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, AuthId.ANYONE)));
        assertEquals(0, AclUses.NONE.with(open).bytes());
        assertSame(ZnodeAcl.OPEN, AclUses.NONE.shared(open));
        assertSame(AclUses.NONE, AclUses.NONE.without(open));
    }

    /** The rows of Thue and Morse, and their opposites, have one polynomial hash, whatever its factor is. */
    private static String thueMorse(int flip) {
        StringBuilder row = new StringBuilder();
        for (int i = 0; i < 2048; i++) {
            row.append((Integer.bitCount(i) & 1) == flip ? 'a' : 'b');
        }
        return row.toString();
    }

    private static ZnodeAcl forged(int number) {
        return new ZnodeAcl(IntStream.range(0, 4)
                .mapToObj(i -> new AclEntry(1, new AuthId("digest", "u:" + thueMorse(number >> i & 1))))
                .toList());
    }

    /** Else the limit of the state does not see them, and they fill the heaps of all members. */
    @Test
    void listsThatAreMadeToHaveOneDigestAreCountedEach() {
        AclUses uses = AclUses.NONE;
        for (int i = 0; i < 16; i++) {
            assertEquals(TreeDigest.ofAcl(forged(0)), TreeDigest.ofAcl(forged(i)));
            uses = uses.with(forged(i));
        }
        assertEquals(16 * AclUses.NONE.with(forged(0)).bytes(), uses.bytes());
        for (int i = 0; i < 16; i++) {
            uses = uses.without(forged(i));
        }
        assertEquals(0, uses.bytes());
    }
}
