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
import org.junit.jupiter.api.Test;

class RecordRoundTripTest {

    @Test
    void everyRecordSurvivesARoundTrip() {
        long seed = new Random().nextLong();
        System.out.println("everyRecordSurvivesARoundTrip: seed " + seed);
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
        Set<Class<?>> declared = Samples.kinds(RequestBody.class, ReplyBody.class);
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
    void aNullAclIsReadAsEmptyAndNullDataStaysNull() {
        byte[] nulls = {0, 0, 0, 1, '/', -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1};
        RequestBody.Create create =
                (RequestBody.Create) RequestBody.decode(OpCode.CREATE, new JuteReader(Unpooled.wrappedBuffer(nulls)));
        assertEquals("/", create.path());
        assertEquals(null, create.data());
        assertEquals(List.of(), create.acl());
        assertEquals(CreateFlag.EPHEMERAL.code(), create.flags());
    }

    @Test
    void aNullPathIsMalformedButWhereZooKeeperTakesIt() {
        byte[] nullPath = {-1, -1, -1, -1, 0, 0, 0, 0};
        for (OpCode opCode : List.of(OpCode.EXISTS, OpCode.GET_DATA, OpCode.DELETE, OpCode.GET_CHILDREN)) {
            JuteReader in = new JuteReader(Unpooled.wrappedBuffer(nullPath));
            assertThrows(MalformedFrameException.class, () -> RequestBody.decode(opCode, in), opCode::name);
        }
        JuteReader in = new JuteReader(Unpooled.wrappedBuffer(nullPath));
        assertEquals(new RequestBody.Sync(""), RequestBody.decode(OpCode.SYNC, in));
    }

    @Test
    void aCreateContainerMakesAContainerWhateverItsFlags() {
        byte[] ephemeral = {0, 0, 0, 1, '/', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
        RequestBody.Create create = (RequestBody.Create)
                RequestBody.decode(OpCode.CREATE_CONTAINER, new JuteReader(Unpooled.wrappedBuffer(ephemeral)));
        assertEquals(CreateFlag.CONTAINER.code(), create.flags());
    }

    @Test
    void bytesBehindABodyAreLeftAlone() {
        byte[] bytes = Arrays.copyOf(Samples.encode(new RequestBody.Sync("/a")), 9);
        JuteReader in = new JuteReader(Unpooled.wrappedBuffer(bytes));
        assertEquals(new RequestBody.Sync("/a"), RequestBody.decode(OpCode.SYNC, in));
        assertEquals(3, in.remaining());
    }

    @Test
    void recordRefusesFieldsThatItsOperationCannotCarry() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new RequestBody.Create(OpCode.CREATE, "/a", null, AclRecord.OPEN, 0, 1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RequestBody.Create(OpCode.DELETE, "/a", null, AclRecord.OPEN, 0, 0));
        assertThrows(
                IllegalArgumentException.class,
                () -> new WatchRequest.SetWatches(
                        OpCode.SET_WATCHES, 0, List.of(), List.of(), List.of(), List.of("/a"), List.of()));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RequestBody.Multi(OpCode.MULTI, List.of(new RequestBody.GetData("/a", false))));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RequestBody.Multi(OpCode.MULTI_READ, List.of(new RequestBody.Delete("/a", 0))));
        assertThrows(
                IllegalArgumentException.class,
                () -> ReplyBody.MultiResult.succeeded(OpCode.DELETE, new ReplyBody.Create("/a")));
        assertThrows(IllegalArgumentException.class, () -> new ConnectRequest(0, 0, 0, 0, null, true, false));
        assertThrows(IllegalArgumentException.class, () -> new ConnectionRequest.Empty(OpCode.CREATE));
    }
}
