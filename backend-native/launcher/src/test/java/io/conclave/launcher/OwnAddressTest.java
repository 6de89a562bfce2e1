package io.conclave.launcher;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.MemberLine;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class OwnAddressTest {
    private static final String MEMBERS = """
            server.1=one:2888:0:participant;0.0.0.0:2181
            server.2=[fd00::2]:2888:0:observer;two:2181
            version=100000003""";

    private static EnsembleMember member(int id, String line) {
        return MemberLine.parse(id, line).member();
    }

    @Test
    void addressOfAnotherMemberIsNamedWithTheMember() {
        IOException e = assertThrows(
                IOException.class, () -> ClusterCommands.requireOwnAddress(member(3, "ONE:2888;2182"), MEMBERS));
        assertEquals(
                "server 1 has the address one:2888 already, so server 3 needs another one; or remove server 1 first",
                e.getMessage());
        assertThrows(
                IOException.class, () -> ClusterCommands.requireOwnAddress(member(3, "[fd00::2]:2888;2181"), MEMBERS));
        assertThrows(
                IOException.class, () -> ClusterCommands.requireOwnAddress(member(1, "one:2888;two:2181"), MEMBERS));
    }

    @Test
    void ownAddressAndPortsOfOtherMachinesAreFree() {
        assertDoesNotThrow(() -> ClusterCommands.requireOwnAddress(member(1, "one:2888;2181"), MEMBERS));
        assertDoesNotThrow(() -> ClusterCommands.requireOwnAddress(member(3, "one:2889;2181"), MEMBERS));
        assertDoesNotThrow(() -> ClusterCommands.requireOwnAddress(member(3, "three:2888;2181"), ""));
    }
}
