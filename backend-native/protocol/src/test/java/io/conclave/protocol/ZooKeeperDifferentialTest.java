package io.conclave.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.Samples.Sample;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.AuthPacket;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.apache.zookeeper.proto.ErrorResponse;
import org.apache.zookeeper.proto.ExistsResponse;
import org.apache.zookeeper.proto.GetSASLRequest;
import org.apache.zookeeper.proto.SetACLResponse;
import org.apache.zookeeper.proto.SetDataResponse;
import org.apache.zookeeper.proto.SetSASLResponse;
import org.apache.zookeeper.proto.SetWatches;
import org.apache.zookeeper.proto.SetWatches2;
import org.junit.jupiter.api.Test;

/** The records of Apache ZooKeeper decode what ours encode, and the other way round; field by field, by name. */
class ZooKeeperDifferentialTest {
    private static final Map<String, String> FIELD_NAMES = Map.of(
            "timeoutMs", "timeOut",
            "password", "passwd",
            "credentials", "auth",
            "ttlMs", "ttl",
            "currentConfigId", "curConfigId");

    /** Where the name of the record is not ours with ACL for Acl and Request or Response behind it. */
    private static final Map<OpCode, Class<? extends Record>> REQUESTS = Map.of(
            OpCode.CREATE_TTL, CreateTTLRequest.class,
            OpCode.SET_WATCHES, SetWatches.class,
            OpCode.SET_WATCHES2, SetWatches2.class,
            OpCode.AUTH, AuthPacket.class,
            OpCode.SASL, GetSASLRequest.class);

    private static final Map<Class<?>, List<Class<? extends Record>>> REPLIES = Map.of(
            ReplyBody.Stat.class, List.of(ExistsResponse.class, SetDataResponse.class, SetACLResponse.class),
            ReplyBody.Sasl.class, List.of(SetSASLResponse.class),
            ReplyBody.Err.class, List.of(ErrorResponse.class));

    private static final Set<Class<?>> WITHOUT_A_RECORD = Set.of(
            ConnectionRequest.Empty.class,
            ReplyBody.Empty.class,
            RequestBody.Opaque.class,
            ReplyBody.Opaque.class,
            RequestBody.Multi.class,
            ReplyBody.Multi.class);

    @Test
    void everyRecordIsTheOneOfZooKeeper() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("everyRecordIsTheOneOfZooKeeper: seed " + seed);
        Samples samples = Samples.withBasicCharacters(new Random(seed));
        Set<Class<?>> compared = new HashSet<>();
        for (int round = 0; round < 100; round++) {
            for (Sample sample : samples.every()) {
                for (Class<? extends Record> theirs : theirsFor(sample.record())) {
                    compare(sample, theirs, "seed " + seed);
                    compared.add(sample.record().getClass());
                }
            }
        }
        assertEquals(everyKindWithARecord(), compared);
    }

    private static Set<Class<?>> everyKindWithARecord() {
        Set<Class<?>> kinds = new HashSet<>(Set.of(
                ConnectRequest.class,
                ConnectResponse.class,
                RequestHeader.class,
                ReplyHeader.class,
                WatcherEvent.class,
                StatRecord.class,
                AclRecord.class));
        kinds.addAll(Samples.kinds(RequestBody.class, ReplyBody.class));
        kinds.removeAll(WITHOUT_A_RECORD);
        return kinds;
    }

    private static void compare(Sample sample, Class<? extends Record> theirClass, String seed) throws Exception {
        String what = sample.name() + " and " + theirClass.getSimpleName() + ", " + seed;
        byte[] ours = sample.encoded();
        Record expected = (Record) toTheirs(sample.record(), theirClass);
        assertArrayEquals(bytesOf(expected), ours, what);

        Record decoded = theirClass.getDeclaredConstructor().newInstance();
        decode(ours, decoded);
        for (Field field : theirClass.getDeclaredFields()) {
            // Not equals(): of records with a null string it throws.
            field.setAccessible(true);
            assertTrue(Objects.deepEquals(field.get(expected), field.get(decoded)), () -> field + " of " + what);
        }

        assertEquals(Samples.contents(sample.record()), Samples.contents(sample.decode(bytesOf(expected))), what);
    }

    private static List<Class<? extends Record>> theirsFor(WireRecord record) throws ClassNotFoundException {
        if (WITHOUT_A_RECORD.contains(record.getClass()) || isWithoutReadOnly(record)) {
            return List.of();
        }
        if (record instanceof RequestBody body && REQUESTS.containsKey(body.opCode())) {
            return List.of(REQUESTS.get(body.opCode()));
        }
        if (REPLIES.containsKey(record.getClass())) {
            return REPLIES.get(record.getClass());
        }
        if (record instanceof StatRecord) {
            return List.of(Stat.class);
        }
        if (record instanceof AclRecord) {
            return List.of(ACL.class);
        }
        String name = record.getClass().getSimpleName().replace("Acl", "ACL")
                + (record instanceof RequestBody ? "Request" : record instanceof ReplyBody ? "Response" : "");
        return List.of(Class.forName("org.apache.zookeeper.proto." + name).asSubclass(Record.class));
    }

    /** Theirs always write the byte. */
    private static boolean isWithoutReadOnly(WireRecord record) {
        return (record instanceof ConnectRequest request && !request.readOnlyPresent())
                || (record instanceof ConnectResponse response && !response.readOnlyPresent());
    }

    private static Object toTheirs(Object value, Class<?> theirClass) throws ReflectiveOperationException {
        if (value instanceof AclRecord acl) {
            return new ACL(acl.perms(), new Id(acl.scheme(), acl.id()));
        }
        if (value instanceof ReplyBody.ClientInfo info) {
            return new org.apache.zookeeper.data.ClientInfo(info.scheme(), info.user());
        }
        if (value instanceof StatRecord && theirClass != Stat.class) {
            return toTheirs(value, Stat.class);
        }
        if (value instanceof List<?> list) {
            List<Object> converted = new ArrayList<>();
            for (Object element : list) {
                converted.add(toTheirs(element, Object.class));
            }
            return converted;
        }
        if (!(value instanceof WireRecord)) {
            return value;
        }
        Object theirs = theirClass.getDeclaredConstructor().newInstance();
        Set<String> unset = Arrays.stream(theirClass.getDeclaredFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()))
                .map(Field::getName)
                .collect(Collectors.toSet());
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            String name = FIELD_NAMES.getOrDefault(component.getName(), component.getName());
            if (unset.remove(name)) {
                Field field = theirClass.getDeclaredField(name);
                field.setAccessible(true);
                field.set(theirs, toTheirs(Samples.component(value, component), field.getType()));
            }
        }
        assertEquals(Set.of(), unset, () -> "fields of " + theirClass + " that ours does not have");
        return theirs;
    }

    @Test
    void multisAreThoseOfZooKeeper() throws Exception {
        RequestBody.Multi writes = new RequestBody.Multi(
                OpCode.MULTI,
                List.of(
                        new RequestBody.Create(
                                OpCode.CREATE, "/a", null, AclRecord.OPEN, CreateFlag.EPHEMERAL_SEQUENTIAL),
                        new RequestBody.Create(OpCode.CREATE2, "/b", null, AclRecord.OPEN, CreateFlag.PERSISTENT),
                        new RequestBody.Create(
                                OpCode.CREATE_CONTAINER, "/c", new byte[] {1}, AclRecord.OPEN, CreateFlag.CONTAINER),
                        new RequestBody.Create(OpCode.CREATE_TTL, "/t", new byte[0], AclRecord.OPEN, 6, 1234),
                        new RequestBody.Delete("/d", 3),
                        new RequestBody.SetData("/s", new byte[] {2}, -1),
                        new RequestBody.CheckVersion("/v", 9)));
        RequestBody.Multi reads = new RequestBody.Multi(
                OpCode.MULTI_READ,
                List.of(new RequestBody.GetData("/g", false), new RequestBody.GetChildren("/h", false)));
        RequestBody.Multi nothing = new RequestBody.Multi(OpCode.MULTI, List.of());
        for (RequestBody.Multi multi : List.of(writes, reads, nothing)) {
            MultiOperationRecord theirs = new MultiOperationRecord();
            decode(Samples.encode(multi), theirs);
            assertEquals(multi.operations().size(), theirs.size());
            RequestBody back =
                    RequestBody.decode(multi.opCode(), new JuteReader(Unpooled.wrappedBuffer(bytesOf(theirs))));
            assertEquals(Samples.contents(multi), Samples.contents(back));
        }
    }

    @Test
    void resultsOfMultisAreThoseOfZooKeeper() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("resultsOfMultisAreThoseOfZooKeeper: seed " + seed);
        Samples samples = Samples.withBasicCharacters(new Random(seed));
        for (int i = 0; i < 500; i++) {
            ReplyBody.Multi reply = (ReplyBody.Multi) samples.reply(OpCode.MULTI);
            MultiResponse theirs = new MultiResponse();
            byte[] ours = Samples.encode(reply);
            decode(ours, theirs);
            assertEquals(reply.results().size(), theirs.size());
            assertArrayEquals(ours, bytesOf(theirs), "seed " + seed);
        }
    }

    /**
     * ZooKeeper writes each half of a surrogate pair as three bytes (CESU-8) but reads UTF-8, so it cannot read back
     * what it wrote. We write UTF-8, which it reads; what it writes, we read just as it does.
     */
    @Test
    void charactersBeyondTheBasicPlaneAreWrittenAsUtf8WhichZooKeeperReadsButDoesNotWrite() throws Exception {
        String astral = "\uD83D\uDE00";
        AuthPacket theirs = new AuthPacket();
        decode(Samples.encode(new ConnectionRequest.Auth(0, astral, null)), theirs);
        assertEquals(astral, theirs.getScheme());

        byte[] written = bytesOf(new AuthPacket(0, astral, null));
        assertEquals(4 + 4 + 6 + 4, written.length);
        AuthPacket readBack = new AuthPacket();
        decode(written, readBack);
        ConnectionRequest.Auth ours = (ConnectionRequest.Auth)
                RequestBody.decode(OpCode.AUTH, new JuteReader(Unpooled.wrappedBuffer(written)));
        assertEquals(readBack.getScheme(), ours.scheme());
        assertEquals("\uFFFD".repeat(2), ours.scheme());
    }

    @Test
    void theNumbersAreThoseOfZooKeeper() throws Exception {
        for (Field field : ZooDefs.OpCode.class.getFields()) {
            if (!field.getName().equals("notification")) {
                OpCode opCode = OpCode.lookup(field.getInt(null)).orElseThrow(() -> new AssertionError(field));
                assertEquals(squeezed(field.getName()), squeezed(opCode.name()));
            }
        }
        assertEquals(ZooDefs.OpCode.class.getFields().length - 1, OpCode.values().length);
        for (KeeperException.Code code : KeeperException.Code.values()) {
            ErrorCode error = ErrorCode.lookup(code.intValue()).orElseThrow(() -> new AssertionError(code));
            assertEquals(code.name().replace("THROTTLEDOP", "THROTTLED"), squeezed(error.name()));
        }
        assertEquals(KeeperException.Code.values().length, ErrorCode.values().length);
        for (CreateMode mode : CreateMode.values()) {
            CreateFlag flag = CreateFlag.lookup(mode.toFlag()).orElseThrow(() -> new AssertionError(mode));
            assertEquals(
                    List.of(mode.isEphemeral(), mode.isSequential(), mode.isContainer(), mode.isTTL()),
                    List.of(flag.isEphemeral(), flag.isSequential(), flag.isContainer(), flag.isTtl()));
        }
        assertEquals(
                codes(code -> WatchMode.lookup(code).isPresent()),
                Arrays.stream(AddWatchMode.values()).map(AddWatchMode::getMode).collect(Collectors.toSet()));
        assertEquals(
                codes(code -> WatcherType.lookup(code).isPresent()),
                Arrays.stream(Watcher.WatcherType.values())
                        .map(Watcher.WatcherType::getIntValue)
                        .collect(Collectors.toSet()));
        for (EventType type : EventType.values()) {
            assertEquals(
                    squeezed(type.name()),
                    squeezed(Watcher.Event.EventType.fromInt(type.code()).name()));
        }
        assertEquals(Watcher.Event.KeeperState.SyncConnected.getIntValue(), WatcherEvent.STATE_CONNECTED);
        assertEquals(
                List.of(
                        ZooDefs.Perms.READ,
                        ZooDefs.Perms.WRITE,
                        ZooDefs.Perms.CREATE,
                        ZooDefs.Perms.DELETE,
                        ZooDefs.Perms.ADMIN,
                        ZooDefs.Perms.ALL),
                List.of(Perms.READ, Perms.WRITE, Perms.CREATE, Perms.DELETE, Perms.ADMIN, Perms.ALL));
        assertEquals(Optional.empty(), OpCode.lookup(0));
    }

    private static Set<Integer> codes(IntPredicate known) {
        return IntStream.range(-10, 100).filter(known).boxed().collect(Collectors.toSet());
    }

    private static String squeezed(String name) {
        return name.replace("_", "").toUpperCase(Locale.ROOT);
    }

    private static byte[] bytesOf(Record record) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        record.serialize(BinaryOutputArchive.getArchive(new DataOutputStream(bytes)), "record");
        return bytes.toByteArray();
    }

    private static void decode(byte[] bytes, Record into) throws Exception {
        ByteArrayInputStream in = new ByteArrayInputStream(bytes);
        into.deserialize(BinaryInputArchive.getArchive(new DataInputStream(in)), "record");
        assertEquals(0, in.available(), () -> into.getClass() + " left bytes");
    }
}
