package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.guards.StoreGuard;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.LockMember;
import io.conclave.request.SetData;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A client of {@link LockService}: it locks, tries, writes and releases as it is told. */
public final class LockServiceClient {
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private final String name;
    private final Coordinator coordinator;
    private final DistributedLock lock;
    private final CounterFile file;
    private Optional<LockGrant> held = Optional.empty();

    private LockServiceClient(String name, Coordinator coordinator, CounterFile file) {
        this.name = name;
        this.coordinator = coordinator;
        this.lock = DistributedLock.at(coordinator, LockService.LOCK).withData(name.getBytes(StandardCharsets.UTF_8));
        this.file = file;
    }

    /**
     * Runs until its input ends.
     *
     * @param arguments name, connect string, guarded file
     */
    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            LockServiceClient client =
                    new LockServiceClient(arguments[0], coordinator, new CounterFile(Path.of(arguments[2])));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                client.follow(order);
            }
        }
    }

    private void follow(String order) throws Exception {
        switch (order) {
            case "lock" -> lock();
            case "try" -> tryToLock();
            case "write" -> write(held.orElseThrow());
            case "release" -> release(held.orElseThrow());
            default -> throw new IllegalArgumentException("Unknown order \"" + order + "\"");
        }
    }

    private void lock() throws Exception {
        CompletableFuture<LockGrant> grant = lock.acquireAsync();
        List<String> line;
        do { // until the server has put us into it
            line = lock.members().stream().map(LockMember::text).toList();
        } while (!line.contains(name));
        System.out.println("in line: " + String.join(", ", line));
        held = Optional.of(grant.get());
        System.out.println("holds the lock, token " + grant.get().token());
    }

    private void tryToLock() throws InterruptedException {
        try {
            held = Optional.of(lock.acquire(PATIENCE));
            System.out.println("holds the lock");
        } catch (AcquireTimeoutException e) {
            System.out.println("had no luck within " + PATIENCE.toMillis() + " ms");
        }
    }

    /** Writes to the file, which compares tokens, and to the store, which looks for the grant's own znode. */
    private void write(LockGrant grant) throws InterruptedException {
        try {
            file.write(grant.token(), file.read().count() + 1);
            System.out.println("has written to the file");
        } catch (IllegalStateException e) {
            System.out.println("refused by the file: " + e.getMessage());
        }
        writeToStore(grant);
    }

    private void writeToStore(LockGrant grant) throws InterruptedException {
        try {
            StoreGuard.of(grant)
                    .execute(coordinator, SetData.of(LockService.LAST_WRITER, name.getBytes(StandardCharsets.UTF_8)));
            System.out.println("has written to the store");
        } catch (OutcomeUnknownException e) {
            writeToStore(grant); // the connection was lost before the reply; to write the same once more does no harm
        } catch (GrantLostException | SessionGoneException e) {
            System.out.println("refused by the store: " + e.getMessage());
        }
    }

    private void release(LockGrant grant) {
        grant.close();
        held = Optional.empty();
        System.out.println("has released the lock");
    }
}
