package io.conclave.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.consensus.MembershipChange;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an operator or a client of ZooKeeper may write. */
class MembershipWordsTest {
    private static final String LINE = "host3:2888;2181";

    @Test
    void numberAloneMayStandForTheServer() {
        assertEquals(MembershipWords.parse("server.3=" + LINE, null), MembershipWords.parse("3=" + LINE, null));
        assertEquals(MembershipWords.parse(null, "server.3"), MembershipWords.parse(null, "3"));
        assertThrows(IllegalArgumentException.class, () -> MembershipWords.parse("three=" + LINE, null));
        assertThrows(IllegalArgumentException.class, () -> MembershipWords.parse("=" + LINE, null));
        assertThrows(IllegalArgumentException.class, () -> MembershipWords.parse("3", null));
    }

    @Test
    void serverInBothListsIsThereAfterwards() {
        List<MembershipChange> moved = MembershipWords.parse("server.3=" + LINE, "3");
        assertEquals(MembershipWords.parse("server.3=" + LINE, null), moved);
        assertEquals(
                List.of(new MembershipChange.Remove(2, false)),
                MembershipWords.parse("server.3=" + LINE, "3,2").subList(1, 2));
    }
}
