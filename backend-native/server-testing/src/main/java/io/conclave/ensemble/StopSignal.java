package io.conclave.ensemble;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * A SIGSTOP that does not outlive this JVM: a shell sends it, waits for a line of input to send SIGCONT, and kills the
 * process if its input ends before. Otherwise a JVM that dies would leave a stopped process behind. Not thread-safe.
 */
final class StopSignal {
    private static final String SCRIPT = "trap '' HUP INT TERM; kill -STOP \"$1\" || exit 1; echo stopped; "
            + "if read -r word; then kill -CONT \"$1\"; else kill -KILL \"$1\"; fi";

    private final Process shell;
    private final long pid;

    private StopSignal(Process shell, long pid) {
        this.shell = shell;
        this.pid = pid;
    }

    /**
     * Stops a process. Blocks until the kernel has taken the signal.
     *
     * @throws UnsupportedOperationException if the system has no POSIX shell
     * @throws IllegalStateException if the signal cannot be sent
     */
    static StopSignal send(long pid) {
        Process shell;
        try {
            shell = new ProcessBuilder("sh", "-c", SCRIPT, "sh", Long.toString(pid))
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            throw new UnsupportedOperationException(
                    "a process cannot be paused here, for that needs a POSIX shell and its command kill: "
                            + e.getMessage(),
                    e);
        }
        StopSignal signal = new StopSignal(shell, pid);
        String answer = signal.answer();
        if (!answer.equals("stopped")) {
            shell.destroyForcibly();
            throw new IllegalStateException("kill -STOP " + pid + " failed: " + answer);
        }
        return signal;
    }

    private String answer() {
        try {
            BufferedReader lines = shell.inputReader(StandardCharsets.UTF_8);
            String line = lines.readLine();
            return line == null ? "the shell has ended" : line;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends SIGCONT. Blocks until the kernel has taken it. */
    void end() {
        try {
            shell.outputWriter(StandardCharsets.UTF_8).append("continue\n").flush();
        } catch (IOException e) {
            throw new UncheckedIOException("kill -CONT " + pid + " cannot be asked for: " + e, e);
        }
        int status = shell.onExit().join().exitValue();
        if (status != 0) {
            throw new IllegalStateException("kill -CONT " + pid + " failed with status " + status);
        }
    }

    /** The process is gone: no more signals are sent. */
    void forget() {
        shell.destroyForcibly();
    }
}
