package io.conclave.server;

import io.conclave.consensus.CallersHandshakes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads of one server that may wait for disks and for name services. */
final class BackgroundThreads {
    private static final int WORKERS = 2;

    /** Where each may wait for a server that does not answer. */
    private static final int WAITING_WORKERS = 32;

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final ExecutorService workers = Executors.newFixedThreadPool(WORKERS, BackgroundThreads::thread);
    private final ExecutorService segmentWork = Executors.newSingleThreadExecutor(BackgroundThreads::thread);
    private final ExecutorService handshakes = Executors.newFixedThreadPool(WORKERS, BackgroundThreads::thread);
    private final ExecutorService ofCallers = Executors.newFixedThreadPool(WORKERS, BackgroundThreads::thread);
    private final CallersHandshakes callersHandshakes = new CallersHandshakes(ofCallers, WORKERS);
    private final ExecutorService ofClients;
    private final CallersHandshakes clientHandshakes;
    private final ExecutorService words = Executors.newFixedThreadPool(WORKERS, BackgroundThreads::thread);
    private final ExecutorService lookups = Executors.newCachedThreadPool(BackgroundThreads::thread);

    /** @param asksAboutClients whether the handshakes of clients wait for others: for questions about certificates */
    BackgroundThreads(boolean asksAboutClients) {
        int threads = asksAboutClients ? WAITING_WORKERS : WORKERS;
        ofClients = Executors.newFixedThreadPool(threads, BackgroundThreads::thread);
        clientHandshakes = CallersHandshakes.ofClients(ofClients, threads);
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "conclave-background-" + COUNT.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    /** Runs a task once, on a thread of its own: it ends the server, or outlives it. */
    static void runApart(Runnable end) {
        Thread thread = new Thread(end, "conclave-end");
        thread.setDaemon(true);
        thread.start();
    }

    /** Snapshots and other slow work. */
    ExecutorService workers() {
        return workers;
    }

    /** Makes the log's next segment, which must not wait for a snapshot. */
    Executor segmentWork() {
        return segmentWork;
    }

    /** Looks host names up: as many threads as there are members that are looked up, for each may hang. */
    Executor lookups() {
        return lookups;
    }

    /** Computes the handshakes of TLS with the members that this one calls: one at a time for each of them. */
    Executor handshakes() {
        return handshakes;
    }

    /** The same with those that call it, and with strangers. */
    CallersHandshakes callersHandshakes() {
        return callersHandshakes;
    }

    /** The same with clients: many of them keep no member waiting, and those of one address no others. */
    CallersHandshakes clientHandshakes() {
        return clientHandshakes;
    }

    /** Makes the texts of four-letter words, of which {@link WordTurns} let few come at a time. */
    Executor words() {
        return words;
    }

    /** Each thread once, but for those that look host names up, compute handshakes and make texts. */
    List<Executor> all() {
        List<Executor> all = new ArrayList<>(Collections.nCopies(WORKERS, workers));
        all.add(segmentWork);
        return all;
    }

    /** Takes no more work; what is under way goes on. */
    void shutdown() {
        workers.shutdown();
        segmentWork.shutdown();
        handshakes.shutdown();
        ofCallers.shutdown();
        ofClients.shutdown();
        words.shutdown();
        lookups.shutdown();
    }
}
