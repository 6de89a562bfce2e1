package io.conclave.simulation;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What a client does all day. */
final class Workload {
    private static final int VALUES = 5;
    private static final int TRANSIENT = 4;
    private static final byte PADDING = 'x';
    static final String TIMED = "/t";

    private final SimulatedClient client;
    private final Simulation world;
    private final Random random;
    private final int inFlight;
    private final int thinkUs;
    private final Map<String, Integer> versions = new HashMap<>();
    private final List<String> own = new ArrayList<>();
    private boolean stopped;

    Workload(SimulatedClient client, Simulation world) {
        this.client = client;
        this.world = world;
        this.random = client.random;
        this.inFlight = 1 + random.nextInt(8);
        this.thinkUs = 10_000 + random.nextInt(90_000);
    }

    void start() {
        world.time.after(random.nextInt(thinkUs), this::act);
    }

    void stop() {
        stopped = true;
    }

    private void act() {
        if (stopped || client.isDead()) {
            return;
        }
        int most = random.nextInt(20) == 0 ? inFlight : 1 + random.nextInt(2);
        for (int i = 0; i < most && client.mayAsk(inFlight); i++) {
            ask();
        }
        world.time.after(1 + random.nextInt(2 * thinkUs), this::act);
    }

    /** Creates the parents of everything; later attempts are refused. */
    private void prepare() {
        for (String path : List.of("/d", "/q", "/e", "/x", "/c", TIMED, LockUser.LINE)) {
            create(path, CreateFlag.PERSISTENT);
        }
        for (int i = 0; i < VALUES; i++) {
            create("/d/" + i, CreateFlag.PERSISTENT);
        }
    }

    private void ask() {
        if (world.truth.state().znode("/d/" + (VALUES - 1)).isEmpty()) {
            prepare();
            return;
        }
        String value = "/d/" + random.nextInt(VALUES);
        if (world.writesAreLarge()) {
            set(value, -1);
            return;
        }
        String transientNode = "/x/" + random.nextInt(TRANSIENT);
        switch (random.nextInt(28)) {
            case 0, 1, 2, 3 -> set(value, -1);
            case 4 -> set(value, versions.getOrDefault(value, 0));
            case 5 -> create(transientNode, CreateFlag.PERSISTENT);
            case 6 -> create(transientNode, CreateFlag.EPHEMERAL);
            case 7, 8 -> client.send(new RequestBody.Delete(transientNode, -1), "", null);
            case 9 -> createOwn("/q/item-", CreateFlag.PERSISTENT_SEQUENTIAL);
            case 10 -> createOwn("/e/c" + client.id + "-", CreateFlag.EPHEMERAL_SEQUENTIAL);
            case 11, 12 -> deleteOwn();
            case 13 -> multi(value);
            case 14, 15, 16 -> get(value, random.nextBoolean());
            case 17 -> client.send(new RequestBody.Exists(transientNode, random.nextBoolean()), "", null);
            case 18 -> get(transientNode, true);
            case 19 ->
                client.send(
                        new RequestBody.GetChildren(
                                OpCode.GET_CHILDREN2, random.nextBoolean() ? "/x" : "/e", random.nextBoolean()),
                        "",
                        null);
            case 20 -> syncAndGet(value);
            case 21, 22 -> {
                if (client.lock.isIdle()) {
                    client.lock.enter();
                }
            }
            case 23, 24, 25 -> timed(TIMED + "/" + random.nextInt(TRANSIENT));
            default -> rare();
        }
    }

    /** With nodes that have a time to live: mostly of seconds, sometimes longer than any run. */
    private void timed(String path) {
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> createTimed(path, CreateFlag.TTL);
            case 3 -> createTimed(TIMED + "/s-", CreateFlag.TTL_SEQUENTIAL);
            case 4 -> createOwn(path + "/child-", CreateFlag.PERSISTENT_SEQUENTIAL);
            case 5 -> create(path + "/ephemeral", CreateFlag.EPHEMERAL);
            case 6, 7 -> set(path, -1);
            case 8 -> client.send(new RequestBody.Delete(path, -1), "", null);
            case 9 -> client.send(new RequestBody.Exists(path, random.nextBoolean()), "", null);
            case 10 ->
                client.send(new RequestBody.GetChildren(OpCode.GET_CHILDREN2, TIMED, random.nextBoolean()), "", null);
            default -> get(path, true);
        }
    }

    private void createTimed(String path, CreateFlag flag) {
        String tag = client.nextTag();
        long ttlMs = random.nextInt(6) == 0 ? Lifetimes.LONGER_THAN_A_RUN_MS : 1 + random.nextInt(4000);
        client.send(
                new RequestBody.Create(OpCode.CREATE_TTL, path, data(tag), AclRecord.OPEN, flag.code(), ttlMs),
                tag,
                null);
    }

    private void rare() {
        switch (random.nextInt(4)) {
            case 0 -> client.closeSession();
            case 1 -> {
                create("/c/" + random.nextInt(3), CreateFlag.CONTAINER);
                createOwn("/c/" + random.nextInt(2) + "/child-", CreateFlag.PERSISTENT_SEQUENTIAL);
            }
            default -> {
                for (int i = 0; i < inFlight; i++) {
                    set("/d/" + random.nextInt(VALUES), -1);
                }
            }
        }
    }

    private byte[] data(String tag) {
        byte[] head = tag.getBytes(StandardCharsets.ISO_8859_1);
        byte[] data = Arrays.copyOf(head, head.length + length());
        Arrays.fill(data, head.length, data.length, PADDING); // not zeros, for lost sectors are zeros
        return data;
    }

    private int length() {
        if (world.writesAreLarge()) {
            return 1_500 + random.nextInt(3_000);
        }
        return random.nextInt(20) == 0 ? random.nextInt(3000) : random.nextInt(100);
    }

    private void set(String path, int version) {
        String tag = client.nextTag();
        client.send(new RequestBody.SetData(path, data(tag), version), tag, null);
    }

    private void create(String path, CreateFlag flag) {
        send(path, flag, null);
    }

    private void createOwn(String path, CreateFlag flag) {
        send(path, flag, reply -> {
            if (reply != null && reply.body() instanceof io.conclave.protocol.ReplyBody.Create2 created) {
                own.add(created.path());
            }
        });
    }

    private void send(String path, CreateFlag flag, SimulatedClient.Outcome outcome) {
        String tag = client.nextTag();
        OpCode opCode = flag == CreateFlag.CONTAINER ? OpCode.CREATE_CONTAINER : OpCode.CREATE2;
        client.send(new RequestBody.Create(opCode, path, data(tag), AclRecord.OPEN, flag), tag, outcome);
    }

    private void deleteOwn() {
        if (!own.isEmpty()) {
            client.send(new RequestBody.Delete(own.remove(random.nextInt(own.size())), -1), "", null);
        }
    }

    private void multi(String value) {
        String tag = client.nextTag();
        List<RequestBody> parts = new ArrayList<>();
        parts.add(new RequestBody.SetData(value, data(tag), -1));
        parts.add(new RequestBody.Create(
                OpCode.CREATE2, "/e/m" + client.id + "-", data(tag), AclRecord.OPEN, CreateFlag.EPHEMERAL_SEQUENTIAL));
        if (random.nextInt(3) == 0) {
            parts.add(new RequestBody.CheckVersion(value, versions.getOrDefault(value, 0) + 1));
        }
        client.send(new RequestBody.Multi(OpCode.MULTI, parts), tag, null);
    }

    private void get(String path, boolean watch) {
        client.send(new RequestBody.GetData(path, watch && client.watches.size() < 20), "", reply -> {
            if (reply != null && reply.body() instanceof ReplyBody.GetData found) {
                versions.put(path, found.stat().version());
            }
        });
    }

    /** Behind a sync, nothing is missed that anybody had seen before. */
    private void syncAndGet(String path) {
        long seen = world.seenZxid();
        client.send(new RequestBody.Sync(path), "", null);
        client.send(new RequestBody.GetData(path, false), "", reply -> {
            if (reply != null && reply.header().zxid() < seen) {
                throw new Violation(client + " reads at 0x"
                        + Long.toHexString(reply.header().zxid()) + " behind a sync, but 0x" + Long.toHexString(seen)
                        + " had been seen before");
            }
        });
    }
}
