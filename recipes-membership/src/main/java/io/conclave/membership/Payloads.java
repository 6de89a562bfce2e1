package io.conclave.membership;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * What a znode shall hold: the payload that the backend has accepted, and the updates that wait for it, in their order.
 *
 * <p>The latest of them is to be written. One that is accepted ends those before it too, for it stands for them. One
 * that is refused ends alone: then the one before it is to be written. Not thread-safe: the owner's lock guards it.
 */
final class Payloads {
    private final List<Update> waiting = new ArrayList<>();
    private Payload accepted; // the first one, until another is
    private long lastNumber = 1;

    /**
     * Data for the znode.
     *
     * @param number counts the payloads of one owner, from 1; none has the number of another
     */
    record Payload(long number, byte[] data) {
        boolean isAfter(Payload other) {
            return number > other.number;
        }
    }

    /**
     * An update that waits.
     *
     * @param done completes with its outcome
     */
    record Update(Payload payload, CompletableFuture<Void> done) {}

    Payloads(byte[] first) {
        accepted = new Payload(lastNumber, first);
    }

    /** What is to be written, if it is not yet. */
    Payload latest() {
        return waiting.isEmpty() ? accepted : waiting.get(waiting.size() - 1).payload;
    }

    /** Adds an update, as the latest. */
    CompletableFuture<Void> update(byte[] data) {
        Update update = new Update(new Payload(++lastNumber, data), new CompletableFuture<>());
        waiting.add(update);
        return update.done;
    }

    /** The backend has accepted this payload; answers with the updates that are done. */
    List<Update> accept(Payload payload) {
        if (payload.isAfter(accepted)) {
            accepted = payload;
        }
        return take(update -> !update.payload.isAfter(payload));
    }

    /** The backend does not take this payload; answers with its update, or with none if it was accepted before. */
    List<Update> refuse(Payload payload) {
        return take(update -> update.payload.number == payload.number);
    }

    /** Nothing is written any more; answers with the updates that wait. */
    List<Update> end() {
        return take(update -> true);
    }

    private List<Update> take(Predicate<Update> which) {
        List<Update> taken = waiting.stream().filter(which).toList();
        waiting.removeAll(taken);
        return taken;
    }
}
