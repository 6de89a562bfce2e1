package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.protocol.Samples.Sample;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RecordRoundTripTest {

    @Test
    void everyRecordComesBackAsItWent() {
        long seed = new Random().nextLong();
        System.out.println("everyRecordComesBackAsItWent: seed " + seed);
        Samples samples = new Samples(new Random(seed));
        for (int round = 0; round < 200; round++) {
            for (Sample sample : samples.every()) {
                JuteReader in = new JuteReader(Unpooled.wrappedBuffer(sample.encoded()));
                WireRecord decoded = sample.decoder().apply(in);
                assertEquals(
                        Samples.contents(sample.record()),
                        Samples.contents(decoded),
                        () -> sample.name() + ", seed " + seed);
                assertEquals(0, in.remaining(), () -> sample.name() + " left bytes, seed " + seed);
            }
        }
    }

    @Test
    void theSamplesCoverEveryRequestAndEveryReply() {
        Set<Class<?>> covered = new Samples(new Random(1))
                .every().stream().map(sample -> sample.record().getClass()).collect(Collectors.toSet());
        Set<Class<?>> declared = Stream.of(RequestBody.class, ReplyBody.class)
                .flatMap(type -> Arrays.stream(type.getPermittedSubclasses()))
                .collect(Collectors.toSet());
        declared.removeAll(covered);
        assertEquals(Set.of(), declared);
    }

    @Test
    void aRequestKnowsTheOperationItWasDecodedFor() {
        Samples samples = new Samples(new Random(2));
        for (OpCode opCode : OpCode.values()) {
            assertEquals(opCode, samples.request(opCode).opCode());
        }
    }

    @Test
    void nullStringsAndVectorsAreReadAsEmptyAndNullDataStaysNull() {
        byte[] allNull = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1};
        CreateRequest create =
                (CreateRequest) RequestBody.decode(OpCode.CREATE, new JuteReader(Unpooled.wrappedBuffer(allNull)));
        assertEquals("", create.path());
        assertEquals(null, create.data());
        assertEquals(List.of(), create.acl());
        assertEquals(CreateFlag.EPHEMERAL.code(), create.flags());
    }

    @Test
    void bytesBehindABodyAreLeftAlone() {
        byte[] bytes = Arrays.copyOf(Samples.encode(new SyncRequest("/a")), 9);
        JuteReader in = new JuteReader(Unpooled.wrappedBuffer(bytes));
        assertEquals(new SyncRequest("/a"), RequestBody.decode(OpCode.SYNC, in));
        assertEquals(3, in.remaining());
    }

    @Test
    void aRecordRefusesWhatItsOperationCannotCarry() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new CreateRequest(OpCode.CREATE, "/a", null, AclRecord.OPEN, 0, 1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new CreateRequest(OpCode.DELETE, "/a", null, AclRecord.OPEN, 0, 0));
        assertThrows(
                IllegalArgumentException.class,
                () -> new SetWatchesRequest(
                        OpCode.SET_WATCHES, 0, List.of(), List.of(), List.of(), List.of("/a"), List.of()));
        assertThrows(
                IllegalArgumentException.class,
                () -> new MultiRequest(OpCode.MULTI, List.of(new GetDataRequest("/a", false))));
        assertThrows(
                IllegalArgumentException.class,
                () -> new MultiRequest(OpCode.MULTI_READ, List.of(new DeleteRequest("/a", 0))));
        assertThrows(IllegalArgumentException.class, () -> MultiResult.succeeded(OpCode.DELETE, new CreateReply("/a")));
        assertThrows(IllegalArgumentException.class, () -> new ConnectRequest(0, 0, 0, 0, null, true, false));
        assertThrows(IllegalArgumentException.class, () -> new EmptyRequest(OpCode.CREATE));
    }
}
