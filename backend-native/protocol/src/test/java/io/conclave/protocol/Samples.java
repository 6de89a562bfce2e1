package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Random records of every kind, each with its decoder. */
final class Samples {
    private static final List<String> BASIC_CHARACTERS = List.of("a", "z", "/", "0", "é", "€", "漢", "\u0000", "\uFFFD");
    private static final List<String> ALL_CHARACTERS =
            List.of("a", "z", "/", "0", "é", "€", "漢", "\u0000", "\uFFFD", "\uD83D\uDE00");

    private final Random random;
    private final List<String> characters;

    private Samples(Random random, List<String> characters) {
        this.random = random;
        this.characters = characters;
    }

    /** Strings of all kinds of characters. */
    Samples(Random random) {
        this(random, ALL_CHARACTERS);
    }

    /** Without the characters beyond U+FFFF, which ZooKeeper's own encoder does not write as UTF-8. */
    static Samples withBasicCharacters(Random random) {
        return new Samples(random, BASIC_CHARACTERS);
    }

    record Sample(WireRecord record, Function<JuteReader, ? extends WireRecord> decoder) {
        byte[] encoded() {
            return encode(record);
        }

        WireRecord decode(byte[] bytes) {
            return decoder.apply(new JuteReader(Unpooled.wrappedBuffer(bytes)));
        }

        String name() {
            return record instanceof RequestBody body
                    ? record.getClass().getSimpleName() + " of " + body.opCode()
                    : record.getClass().getSimpleName();
        }
    }

    /** The records of sealed interfaces, however deep they are nested. */
    static Set<Class<?>> kinds(Class<?>... sealed) {
        return Arrays.stream(sealed)
                .flatMap(type -> Arrays.stream(type.getPermittedSubclasses()))
                .flatMap(type -> type.isRecord() ? Stream.of(type) : kinds(type).stream())
                .collect(Collectors.toSet());
    }

    static byte[] encode(WireRecord record) {
        ByteBuf out = Unpooled.buffer();
        record.encode(new JuteWriter(out));
        byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return bytes;
    }

    /** The components by name, down to values that have an equality: byte arrays as lists. */
    static Object contents(Object value) {
        if (value instanceof byte[] bytes) {
            return IntStream.range(0, bytes.length).mapToObj(i -> bytes[i]).toList();
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Samples::contents).toList();
        }
        if (!(value instanceof WireRecord)) {
            return value;
        }
        Map<String, Object> contents = new LinkedHashMap<>();
        contents.put("class", value.getClass());
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            contents.put(component.getName(), contents(component(value, component)));
        }
        return contents;
    }

    static Object component(Object record, RecordComponent component) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    List<Sample> every() {
        List<Sample> samples = new ArrayList<>(List.of(
                new Sample(connectRequest(true), ConnectRequest::decode),
                new Sample(connectRequest(false), ConnectRequest::decode),
                new Sample(connectResponse(true), ConnectResponse::decode),
                new Sample(connectResponse(false), ConnectResponse::decode),
                new Sample(new RequestHeader(random.nextInt(), random.nextInt()), RequestHeader::decode),
                new Sample(new ReplyHeader(random.nextInt(), random.nextLong(), random.nextInt()), ReplyHeader::decode),
                new Sample(new WatcherEvent(random.nextInt(), random.nextInt(), string()), WatcherEvent::decode),
                new Sample(stat(), StatRecord::decode),
                new Sample(acl(), AclRecord::decode)));
        for (OpCode opCode : OpCode.values()) {
            samples.add(new Sample(request(opCode), in -> RequestBody.decode(opCode, in)));
            samples.add(new Sample(reply(opCode), in -> ReplyBody.decode(opCode, in)));
        }
        return samples;
    }

    RequestBody request(OpCode opCode) {
        return switch (opCode) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL ->
                new RequestBody.Create(
                        opCode,
                        string(),
                        data(),
                        list(this::acl),
                        random.nextInt(),
                        opCode == OpCode.CREATE_TTL ? random.nextLong() : 0);
            case DELETE -> new RequestBody.Delete(string(), random.nextInt());
            case EXISTS -> new RequestBody.Exists(string(), random.nextBoolean());
            case GET_DATA -> new RequestBody.GetData(string(), random.nextBoolean());
            case SET_DATA -> new RequestBody.SetData(string(), data(), random.nextInt());
            case GET_ACL -> new RequestBody.GetAcl(string());
            case SET_ACL -> new RequestBody.SetAcl(string(), list(this::acl), random.nextInt());
            case GET_CHILDREN, GET_CHILDREN2 -> new RequestBody.GetChildren(opCode, string(), random.nextBoolean());
            case SYNC -> new RequestBody.Sync(string());
            case CHECK -> new RequestBody.CheckVersion(string(), random.nextInt());
            case MULTI ->
                new RequestBody.Multi(
                        opCode,
                        list(() -> request(any(
                                OpCode.CREATE,
                                OpCode.CREATE2,
                                OpCode.CREATE_CONTAINER,
                                OpCode.CREATE_TTL,
                                OpCode.DELETE,
                                OpCode.SET_DATA,
                                OpCode.CHECK))));
            case MULTI_READ ->
                new RequestBody.Multi(opCode, list(() -> request(any(OpCode.GET_DATA, OpCode.GET_CHILDREN))));
            case RECONFIG ->
                new RequestBody.Reconfig(nullableString(), nullableString(), nullableString(), random.nextLong());
            case CHECK_WATCHES -> new WatchRequest.CheckWatches(string(), random.nextInt());
            case REMOVE_WATCHES -> new WatchRequest.RemoveWatches(string(), random.nextInt());
            case ADD_WATCH -> new WatchRequest.AddWatch(string(), random.nextInt());
            case SET_WATCHES, SET_WATCHES2 -> setWatches(opCode);
            case AUTH -> new ConnectionRequest.Auth(random.nextInt(), string(), data());
            case SASL -> new ConnectionRequest.Sasl(data());
            case GET_EPHEMERALS -> new RequestBody.GetEphemerals(string());
            case GET_ALL_CHILDREN_NUMBER -> new RequestBody.GetAllChildrenNumber(string());
            case PING, CLOSE_SESSION, WHO_AM_I -> new ConnectionRequest.Empty(opCode);
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new RequestBody.Opaque(opCode, bytes());
        };
    }

    ReplyBody reply(OpCode opCode) {
        return switch (opCode) {
            case CREATE -> new ReplyBody.Create(string());
            case CREATE2, CREATE_CONTAINER, CREATE_TTL -> new ReplyBody.Create2(string(), stat());
            case EXISTS, SET_DATA, SET_ACL -> new ReplyBody.Stat(stat());
            case GET_DATA, RECONFIG -> new ReplyBody.GetData(data(), stat());
            case GET_ACL -> new ReplyBody.GetAcl(list(this::acl), stat());
            case GET_CHILDREN -> new ReplyBody.GetChildren(list(this::string));
            case GET_CHILDREN2 -> new ReplyBody.GetChildren2(list(this::string), stat());
            case SYNC -> new ReplyBody.Sync(string());
            case MULTI, MULTI_READ -> new ReplyBody.Multi(list(this::multiResult));
            case ADD_WATCH -> new ReplyBody.Err(random.nextInt());
            case SASL -> new ReplyBody.Sasl(data());
            case GET_EPHEMERALS -> new ReplyBody.GetEphemerals(list(this::string));
            case GET_ALL_CHILDREN_NUMBER -> new ReplyBody.GetAllChildrenNumber(random.nextInt());
            case WHO_AM_I -> new ReplyBody.WhoAmI(list(() -> new ReplyBody.ClientInfo(string(), string())));
            case DELETE, PING, CLOSE_SESSION, CHECK, CHECK_WATCHES, REMOVE_WATCHES, SET_WATCHES, SET_WATCHES2, AUTH ->
                ReplyBody.Empty.INSTANCE;
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new ReplyBody.Opaque(bytes());
        };
    }

    ReplyBody.MultiResult multiResult() {
        if (random.nextInt(4) == 0) {
            return ReplyBody.MultiResult.failed(random.nextInt());
        }
        OpCode opCode = any(
                OpCode.CREATE,
                OpCode.CREATE2,
                OpCode.CREATE_TTL,
                OpCode.DELETE,
                OpCode.SET_DATA,
                OpCode.CHECK,
                OpCode.GET_DATA,
                OpCode.GET_CHILDREN);
        return ReplyBody.MultiResult.succeeded(opCode, reply(opCode));
    }

    ConnectRequest connectRequest(boolean readOnlyPresent) {
        return new ConnectRequest(
                random.nextInt(),
                random.nextLong(),
                random.nextInt(),
                random.nextLong(),
                data(),
                readOnlyPresent && random.nextBoolean(),
                readOnlyPresent);
    }

    ConnectResponse connectResponse(boolean readOnlyPresent) {
        return new ConnectResponse(
                random.nextInt(),
                random.nextInt(),
                random.nextLong(),
                data(),
                readOnlyPresent && random.nextBoolean(),
                readOnlyPresent);
    }

    StatRecord stat() {
        return new StatRecord(
                random.nextLong(),
                random.nextLong(),
                random.nextLong(),
                random.nextLong(),
                random.nextInt(),
                random.nextInt(),
                random.nextInt(),
                random.nextLong(),
                random.nextInt(),
                random.nextInt(),
                random.nextLong());
    }

    AclRecord acl() {
        return new AclRecord(random.nextInt(), string(), string());
    }

    byte[] bytes() {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        return bytes;
    }

    private WatchRequest.SetWatches setWatches(OpCode opCode) {
        boolean persistent = opCode == OpCode.SET_WATCHES2;
        return new WatchRequest.SetWatches(
                opCode,
                random.nextLong(),
                list(this::string),
                list(this::string),
                list(this::string),
                persistent ? list(this::string) : List.of(),
                persistent ? list(this::string) : List.of());
    }

    private byte[] data() {
        return random.nextInt(5) == 0 ? null : bytes();
    }

    private String nullableString() {
        return random.nextInt(3) == 0 ? null : string();
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (int length = random.nextInt(12); length > 0; length--) {
            string.append(characters.get(random.nextInt(characters.size())));
        }
        return string.toString();
    }

    private <T> List<T> list(Supplier<T> element) {
        return IntStream.range(0, random.nextInt(5))
                .mapToObj(i -> element.get())
                .toList();
    }

    private OpCode any(OpCode... opCodes) {
        return opCodes[random.nextInt(opCodes.length)];
    }
}
