package io.conclave.examples;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A process in a demo: what it says can be waited for, and it can be told something by a line of input. */
final class DemoProcess {
    private final String name;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final ChildProcess process;

    /** Starts the process; what it says goes to the listener, on a thread that reads it. */
    DemoProcess(String name, Consumer<String> onLine, Class<?> main, List<String> arguments) {
        this.name = name;
        this.process = ChildProcess.start(
                line -> {
                    onLine.accept(line);
                    said.add(line);
                },
                main,
                arguments.toArray(String[]::new));
    }

    /** Waits until the process says a line with these words; what it has said before that is passed over. */
    void awaits(String words) throws InterruptedException {
        String line;
        do {
            line = said.poll(60, TimeUnit.SECONDS);
            if (line == null) {
                throw new IllegalStateException(name + " has said nothing with \"" + words + "\" for a minute");
            }
        } while (!line.contains(words));
    }

    void tell(String order) {
        process.tell(order);
    }

    /** Stops the process as a long pause would; it goes on with {@link #resume}. */
    void pause() throws InterruptedException {
        process.signal("STOP");
    }

    void resume() throws InterruptedException {
        process.signal("CONT");
    }

    /** kill -9; returns when the process has gone. */
    void kill() throws InterruptedException {
        process.kill();
        process.await();
    }

    /** As {@link #kill}, interrupted or not. */
    void killUninterruptibly() {
        process.kill();
        process.awaitUninterruptibly();
    }

    /** Waits for the process to end by itself; the exit status. */
    int ends() throws InterruptedException {
        return process.await();
    }
}
