package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
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
}
