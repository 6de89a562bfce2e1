package io.conclave.consensus.entry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The bytes of the log's values; golden ones, since they stay in files and go between versions. */
class LogStateCodecTest {
    private static final EnsembleMember ALPHA =
            new EnsembleMember(1, 0x1122334455667788L, "alpha", 2888, "", 2181, false);
    private static final EnsembleMember BETA = new EnsembleMember(2, 0, "b", 2889, "client-b", 0, true);
    private static final ClusterConfiguration CONFIGURATION =
            new ClusterConfiguration(Map.of(1, ALPHA, 2, BETA), Set.of(1), Set.of(1, 2), Set.of(2), Set.of(9));
    private static final LogState STATE =
            new LogState(CONFIGURATION, 12, 3, Map.of(1, new LogState.Proposer(4, 5, 6, new Start(7, 8, 9))));

    private static final String CONFIGURATION_BYTES = "01" + "0002"
            + "00000001" + "1122334455667788" + "0005616c706861" + "00000b48" + "0000" + "00000885" + "00"
            + "00000002" + "0000000000000000" + "000162" + "00000b49" + "0008636c69656e742d62" + "00000000" + "01"
            + "0001" + "00000001"
            + "0002" + "00000001" + "00000002"
            + "0001" + "00000002"
            + "0001" + "00000009";

    private static final String STATE_BYTES = "02" + "00000003" + "000000000000000c"
            + "0001" + "00000001" + "0000000000000004" + "0000000000000005" + "0000000000000006"
            + "0000000000000007" + "0000000000000008" + "0000000000000009"
            + CONFIGURATION_BYTES;

    @Test
    void aConfigurationsBytesStayAsTheyAre() {
        byte[] bytes = ConfigurationCodec.encode(CONFIGURATION);
        assertEquals(CONFIGURATION_BYTES, HexFormat.of().formatHex(bytes));
        assertEquals(CONFIGURATION, ConfigurationCodec.decode(bytes));
    }

    @Test
    void theLogsStatesBytesStayAsTheyAre() {
        byte[] bytes = LogStateCodec.encode(STATE);
        assertEquals(STATE_BYTES, HexFormat.of().formatHex(bytes));
        assertEquals(STATE, LogStateCodec.decode(bytes));
        assertEquals(LogState.INITIAL, LogStateCodec.decode(LogStateCodec.encode(LogState.INITIAL)));
    }

    @Test
    void anEntrysBytesStayAsTheyAre() {
        LogEntry entry = new LogEntry(LogEntryKind.STARTED, new Origin(3, 7, 9), new byte[] {1, 2});
        ByteBuffer bytes = ByteBuffer.allocate((int) EntryCodec.bytesOf(List.of(entry)));
        EntryCodec.write(bytes, entry);
        assertEquals(
                "05" + "00000003" + "0000000000000007" + "0000000000000009" + "00000002" + "0102",
                HexFormat.of().formatHex(bytes.array()));
        LogEntry read = EntryCodec.read(bytes.flip(), 1).get(0);
        assertEquals(entry.kind(), read.kind());
        assertEquals(entry.origin(), read.origin());
        assertArrayEquals(entry.payload(), read.payload());
    }

    @Test
    void bytesThatEndEarlyOrGoOnOrAreOfALaterVersionAreRefusedByName() {
        byte[] bytes = LogStateCodec.encode(STATE);
        for (int length = 0; length < bytes.length; length++) {
            byte[] part = Arrays.copyOf(bytes, length);
            assertThrows(IllegalArgumentException.class, () -> LogStateCodec.decode(part));
        }
        assertThrows(
                IllegalArgumentException.class, () -> LogStateCodec.decode(Arrays.copyOf(bytes, bytes.length + 1)));
        bytes[0] = 3;
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> LogStateCodec.decode(bytes));
        assertEquals("a state of the log of version 3; known is 2", e.getMessage());
        ByteBuffer tooLong = ByteBuffer.allocate(EntryCodec.HEADER_BYTES).put(0, (byte) 2);
        tooLong.putInt(EntryCodec.HEADER_BYTES - 4, 1);
        assertThrows(IllegalArgumentException.class, () -> EntryCodec.read(tooLong, 1));
        assertThrows(IllegalArgumentException.class, () -> EntryCodec.read(tooLong, 2));
    }
}
