package io.conclave.consensus.member;

import io.conclave.consensus.core.PeerMessage.AppendReply;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.store.StoredLog;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends one member the log between its snapshot and what the core has in memory, from the files, one append at a time:
 * that is all that it holds in memory.
 */
final class LogFeed {
    private static final Logger log = LoggerFactory.getLogger(LogFeed.class);
    static final int APPEND_BYTES = 4 << 20;

    /** The caller's side of it. */
    interface Feeding {
        /** Up to here the log is durable and committed. */
        long readableIndex();

        /** Sends batches that are not in the core's memory. */
        void append(int to, long previousIndex, long previousTerm, List<LogBatch> batches);

        /** It cannot go on. */
        void failed(LogFeed feed);
    }

    private final int to;
    private final StoredLog source;
    private final BackgroundReader reader;
    private final Feeding feeding;

    /** What the member has. */
    private long previousIndex;

    private long previousTerm;

    /** On their way to the member. */
    private List<LogBatch> sent = List.of();

    private boolean answerLost;
    private boolean reading;
    private boolean over;

    /** @param source behind the index */
    LogFeed(int to, long index, long term, StoredLog source, BackgroundReader reader, Feeding feeding) {
        this.to = to;
        this.previousIndex = index;
        this.previousTerm = term;
        this.source = source;
        this.reader = reader;
        this.feeding = feeding;
    }

    int to() {
        return to;
    }

    void readOn() {
        reading = true;
        long upTo = feeding.readableIndex();
        reader.read("the log behind index " + previousIndex, () -> source.read(upTo, APPEND_BYTES), this::read);
    }

    private void read(Optional<List<LogBatch>> batches) {
        reading = false;
        if (over) {
            close();
        } else if (batches.isEmpty() || batches.get().isEmpty()) {
            feeding.failed(this);
        } else {
            sent = batches.get();
            send();
        }
    }

    /** What the member has answered may be lost: it is asked again when it can be heard. */
    void answerLost() {
        answerLost = true;
    }

    /** The member's answer to this or to something else. */
    void answered(AppendReply reply) {
        if (sent.isEmpty()) {
            return;
        }
        if (answerLost) {
            answerLost = false;
            send();
        }
        LogBatch last = sent.get(sent.size() - 1);
        if (reply.accepted() && reply.matchIndex() >= last.lastIndex()) {
            previousIndex = last.lastIndex();
            previousTerm = last.term();
            sent = List.of();
            readOn();
        } else if (!reply.accepted() && reply.matchIndex() == previousIndex) {
            log.warn("member {} said that it has the log up to index {}, and does not have it", to, previousIndex);
            feeding.failed(this);
        }
    }

    /** Sends the batches, again if the link is new. */
    void send() {
        if (!sent.isEmpty()) {
            feeding.append(to, previousIndex, previousTerm, sent);
        }
    }

    void end() {
        over = true;
        if (!reading) {
            close();
        }
    }

    private void close() {
        try {
            source.close();
        } catch (IOException e) {
            log.warn("closing the log's files failed", e);
        }
    }
}
