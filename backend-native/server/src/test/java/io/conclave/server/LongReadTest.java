package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteWriter;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests that read very much and are answered part by part: clients see no difference. */
class LongReadTest {
    private static final int MANY = 15_000;

    private static RequestBody.Multi reads(List<RequestBody> parts) {
        return new RequestBody.Multi(OpCode.MULTI_READ, parts);
    }

    private static void createMany(RawClient client, CreateFlag flag) throws IOException {
        for (int first = 0; first < MANY; first += 5_000) {
            List<RequestBody> creates = new ArrayList<>();
            IntStream.range(first, first + 5_000).forEach(i -> creates.add(Requests.create("/top/" + i, flag)));
            assertEquals(0, client.error(new RequestBody.Multi(OpCode.MULTI, creates)));
        }
    }

    private static List<ReplyBody.MultiResult> call(RawClient client, List<RequestBody> parts) throws IOException {
        return client.call(reads(parts), ReplyBody.Multi.class).results();
    }

    private static byte[] bytes(List<ReplyBody.MultiResult> results) {
        ByteBuf encoded = Unpooled.buffer();
        new ReplyBody.Multi(results).encode(new JuteWriter(encoded));
        return ByteBufUtil.getBytes(encoded);
    }

    private static String data(ReplyBody.MultiResult result) {
        byte[] data = ((ReplyBody.GetData) result.body()).data();
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }

    @Test
    void aLongMultiReadHasTheResultsOfShortOnes() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/top"));
            createMany(client, CreateFlag.PERSISTENT);
            client.call(Requests.create("/empty"));
            List<RequestBody> some = List.of(
                    Requests.get("/top/7"),
                    Requests.get("/missing"),
                    new RequestBody.GetChildren("/top", false),
                    new RequestBody.GetChildren("/empty", false),
                    new RequestBody.GetChildren("/missing", false),
                    Requests.get("/empty"));
            List<ReplyBody.MultiResult> expected = new ArrayList<>();
            for (RequestBody part : some) {
                expected.addAll(call(client, List.of(part)));
            }
            assertEquals(
                    MANY,
                    ((ReplyBody.GetChildren) expected.get(2).body()).children().size());
            assertArrayEquals(bytes(expected), bytes(call(client, some)));
            List<RequestBody> many = new ArrayList<>(Collections.nCopies(3_000, Requests.get("/top/7")));
            many.addAll(some);
            many.addAll(Collections.nCopies(3_000, Requests.get("/missing")));
            List<ReplyBody.MultiResult> results = call(client, many);
            assertEquals(many.size(), results.size());
            assertArrayEquals(bytes(expected), bytes(results.subList(3_000, 3_006)));
            assertEquals("data", data(results.get(2_999)));
            assertEquals(OpCode.ERROR, results.get(results.size() - 1).opCode());
        }
    }

    /** What lies beyond the bound of one answer fails, and what was begun before it is whole. */
    @Test
    void aMultiReadOfTooManyBytesFailsFromThereOn() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/large"));
            client.call(Requests.set("/large", "x".repeat(900_000)));
            List<ReplyBody.MultiResult> results = call(client, Collections.nCopies(30, Requests.get("/large")));
            assertEquals(OpCode.GET_DATA, results.get(18).opCode());
            assertEquals(
                    new ReplyBody.Err(ErrorCode.MARSHALLING_ERROR.code()),
                    results.get(19).body());
        }
    }

    @Test
    void aLongMultiReadIsOfOneStateAndItsWatchesMissNothing() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        try (ConclaveServer server =
                        TestServer.start(TestServer.config().eventLoops(1).build());
                RawClient reader = RawClient.attached(TestServer.port(server), 60_000);
                RawClient writer = RawClient.attached(TestServer.port(server), 60_000)) {
            writer.call(Requests.create("/first"));
            writer.call(Requests.create("/last"));
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                for (int i = 0; !enough.get(); i++) {
                    setBoth(writer, Integer.toString(i));
                }
            });
            List<RequestBody> parts = new ArrayList<>(List.of(Requests.get("/first")));
            parts.addAll(Collections.nCopies(10_000, Requests.get("/missing")));
            parts.add(Requests.getAndWatch("/last"));
            for (int round = 0; round < 10; round++) {
                RawClient.Message reply = reader.call(reads(parts));
                assertFalse(reply.isEvent(), "an event of a watch that the client does not know of yet");
                List<ReplyBody.MultiResult> results =
                        ((ReplyBody.Multi) reply.body().orElseThrow()).results();
                assertEquals(data(results.get(0)), data(results.get(results.size() - 1)));
                assertTrue(reader.read().isEvent());
            }
            enough.set(true);
            writing.get(120, TimeUnit.SECONDS);
        }
    }

    private static void setBoth(RawClient client, String data) {
        try {
            assertEquals(
                    0,
                    client.error(new RequestBody.Multi(
                            OpCode.MULTI, List.of(Requests.set("/first", data), Requests.set("/last", data)))));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void allEphemeralsOfASessionAreListedOnce() throws IOException {
        try (ConclaveServer server = TestServer.start();
                RawClient client = RawClient.attached(TestServer.port(server), 60_000)) {
            client.call(Requests.create("/top"));
            createMany(client, CreateFlag.EPHEMERAL);
            client.send(
                    new RequestBody.GetEphemerals("/"),
                    new RequestBody.GetEphemerals("/top/14"),
                    Requests.get("/none"));
            List<String> all = ephemerals(client);
            assertEquals(MANY, all.size());
            assertEquals(MANY, new HashSet<>(all).size());
            assertEquals(1 + 10 + 100 + 1_000, ephemerals(client).size());
            assertEquals(ErrorCode.NO_NODE.code(), client.read().header().err());
        }
    }

    private static List<String> ephemerals(RawClient client) throws IOException {
        return ((ReplyBody.GetEphemerals) client.read().body().orElseThrow()).ephemerals();
    }
}
