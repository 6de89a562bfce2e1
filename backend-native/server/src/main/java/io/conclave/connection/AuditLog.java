package io.conclave.connection;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the audit log through the logger {@value #LOGGER}, on a thread of its own, so that a slow disk holds up no
 * event loop. A number of lines may wait, and a share of the heap may be in them. What finds no room is lost, and a
 * line says how much. Thread-safe.
 */
public final class AuditLog implements AutoCloseable {
    /** The name of its logger. */
    public static final String LOGGER = "io.conclave.audit";

    /** Writes nothing. */
    public static final AuditLog OFF = new AuditLog(1, 0, false);

    private static final Logger AUDIT = LoggerFactory.getLogger(LOGGER);
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
    private static final int MOST_LINES = 65_536;
    private static final int SHARE_OF_HEAP = 16;

    /** The memory of a waiting line, without its characters. */
    private static final int BYTES_OF_A_LINE = 64;

    private static final long LAST_LINES_MS = 2000;
    private static final long POLL_MS = 100;

    private final BlockingQueue<String> lines;
    private final long mostBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private final @Nullable Thread writer;
    private volatile boolean closing;

    private AuditLog(int mostLines, long mostBytes, boolean on) {
        lines = new ArrayBlockingQueue<>(mostLines);
        this.mostBytes = mostBytes;
        writer = on ? new Thread(this::run, "conclave-audit") : null;
    }

    /** An audit log whose thread runs. */
    public static AuditLog start() {
        return start(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    }

    /** @param mostBytes that lines may take which wait */
    static AuditLog start(long mostBytes) {
        AuditLog log = new AuditLog(MOST_LINES, mostBytes, true);
        Thread thread = log.writer;
        if (thread != null) {
            thread.setDaemon(true);
            thread.start();
        }
        return log;
    }

    /** Whether lines are written. */
    public boolean isOn() {
        return writer != null;
    }

    /**
     * Has a line written soon. Never blocks.
     *
     * @param line is made only if there is room for it
     */
    public void write(Supplier<AuditLine> line) {
        if (isOn() && !offer(line)) {
            lost.incrementAndGet();
        }
    }

    private boolean offer(Supplier<AuditLine> line) {
        if (bytes.get() >= mostBytes || lines.remainingCapacity() == 0) {
            return false;
        }
        String text = line.get().toString();
        if (bytes.addAndGet(bytesOf(text)) <= mostBytes && lines.offer(text)) {
            return true;
        }
        bytes.addAndGet(-bytesOf(text));
        return false;
    }

    private static long bytesOf(String line) {
        return BYTES_OF_A_LINE + 2L * line.length();
    }

    private void run() {
        try {
            while (true) {
                String line = lines.poll(POLL_MS, TimeUnit.MILLISECONDS);
                if (line != null) {
                    bytes.addAndGet(-bytesOf(line));
                    write(line);
                } else if (closing) {
                    return;
                }
                tellOfLost();
            }
        } catch (InterruptedException e) {
            LOG.debug("The audit log has ended with {} lines unwritten", lines.size());
        }
    }

    private void tellOfLost() {
        long count = lost.getAndSet(0);
        if (count > 0) {
            LOG.error("{} lines of the audit log were lost: they came faster than they could be written", count);
            write("lost=" + count);
        }
    }

    /** The backend of the log is not ours: what it throws must not end the thread. */
    private static void write(String line) {
        try {
            AUDIT.info("{}", line);
        } catch (RuntimeException e) {
            LOG.error("A line of the audit log could not be written", e);
        }
    }

    /** Writes what it was given, and ends. Blocks for two seconds at most. Idempotent. */
    @Override
    public void close() {
        closing = true;
        Thread thread = writer;
        if (thread == null) {
            return;
        }
        try {
            thread.join(LAST_LINES_MS);
            thread.interrupt();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
