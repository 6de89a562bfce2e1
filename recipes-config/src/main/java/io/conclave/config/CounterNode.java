package io.conclave.config;

import io.conclave.node.NodePath;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** Reads the znode of a counter, and writes it on condition of what was read. */
final class CounterNode {
    private final Requests requests;
    private final NodePath path;

    /**
     * What was read.
     *
     * @param version of the znode; {@link ConditionalWrite#ABSENT} if there is none
     */
    record State(CounterRecord record, int version) {
        long value() {
            return record.value();
        }
    }

    CounterNode(Requests requests, NodePath path) {
        this.requests = requests;
        this.path = path;
    }

    CompletionStage<State> read() {
        return requests.read(path).thenApply(found -> found.map(node -> new State(
                        CounterRecord.parse(path, node.data()), node.stat().version()))
                .orElse(new State(CounterRecord.ZERO, ConditionalWrite.ABSENT)));
    }

    /** False if something else was written since. */
    CompletionStage<Boolean> write(State before, long value) {
        long mark = ThreadLocalRandom.current().nextLong();
        byte[] data = before.record.next(value, mark).data();
        ConditionalWrite.Proof proof = (node, writes) -> {
            if (CounterRecord.parse(path, node.data()).isMarked(mark)) {
                return ConditionalWrite.Proof.Verdict.WRITTEN;
            }
            return writes <= CounterRecord.MARKS
                    ? ConditionalWrite.Proof.Verdict.REFUSED
                    : ConditionalWrite.Proof.Verdict.UNKNOWN;
        };
        return new ConditionalWrite(requests, path, data, before.version, proof)
                .send()
                .thenApply(written -> written.isPresent());
    }
}
