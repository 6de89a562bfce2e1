package io.conclave.launcher;

import java.io.PrintStream;

/** Where a command writes: what was asked for, and what went wrong. */
record Console(PrintStream out, PrintStream err) {
    void say(String text) {
        out.println(text);
        out.flush();
    }

    /** Says something beside what was asked for. */
    void note(String text) {
        err.println(text);
        err.flush();
    }

    /** Says what went wrong, and gives the exit status of that. */
    int fail(String text) {
        err.println(text);
        err.flush();
        return Main.FAILED;
    }
}
