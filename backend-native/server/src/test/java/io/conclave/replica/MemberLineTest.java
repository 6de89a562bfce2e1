package io.conclave.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MemberLineTest {
    @Test
    void aControlCharacterCannotGetIntoTheListOfMembersNorIntoALog() {
        for (String text : new String[] {"a\rserver.9=b:1", "a\u001b[31m:1", "a:1;\tb:2"}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> MemberLine.parse(1, text));
            assertEquals("the line of server 1 has a control character", e.getMessage());
        }
    }

    /** An entry of the log could not carry one of 64 kB, and the leader would end. */
    @Test
    void aHostIsNoLongerThanThoseOfDns() {
        String longest = "x".repeat(255);
        assertEquals(
                longest,
                MemberLine.parse(1, longest + ":1;" + longest + ":2").member().host());
        for (String text : new String[] {"x" + longest + ":1", "a:1;x" + longest + ":2"}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> MemberLine.parse(1, text));
            assertTrue(e.getMessage().endsWith("of server 1 has 256 characters; at most 255 are allowed"), e::toString);
        }
    }
}
