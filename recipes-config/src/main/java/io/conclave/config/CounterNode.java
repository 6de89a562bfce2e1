package io.conclave.config;

import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** Reads the znode of a counter, and writes it on condition of what was read. */
final class CounterNode {
    private final Requests requests;
    private final NodePath path;

    /**
     * What was read.
     *
     * @param expected what a write of it expects
     */
    record State(CounterRecord record, ConditionalWrite.Expected expected) {
        long value() {
            return record.value();
        }
    }

    CounterNode(Requests requests, NodePath path) {
        this.requests = requests;
        this.path = path;
    }

    CompletionStage<State> read() {
        return requests.read(path).thenApply(this::state);
    }

    /** Behind a sync. */
    CompletionStage<State> readLatest() {
        return requests.readLatest(path).thenApply(this::state);
    }

    private State state(Optional<GetData.NodeData> found) {
        return new State(
                found.map(node -> CounterRecord.parse(path, node.data())).orElse(CounterRecord.ZERO),
                ConditionalWrite.Expected.of(found));
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
        return new ConditionalWrite(requests, path, data, before.expected, proof)
                .send()
                .thenApply(written -> written.isPresent());
    }
}
