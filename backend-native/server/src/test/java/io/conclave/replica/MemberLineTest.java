package io.conclave.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class MemberLineTest {
    @Test
    void aControlCharacterCannotGetIntoTheListOfMembersNorIntoALog() {
        for (String text : new String[] {"a\rserver.9=b:1", "a\u001b[31m:1", "a:1;\tb:2"}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> MemberLine.parse(1, text));
            assertEquals("the line of server 1 has a control character", e.getMessage());
        }
    }
}
