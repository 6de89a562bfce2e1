package io.conclave.proofs.interop;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Python's client for ZooKeeper, where the machine has it, with scripts that use it as it is. */
final class Kazoo {
    private static final String PYTHON = "/usr/bin/python3";

    private Kazoo() {}

    /** Starts a script, or skips the test where kazoo is not installed. It says {@code ok} for each check. */
    static Process start(String script, String... arguments) throws IOException, InterruptedException {
        assumeTrue(isInstalled(), "kazoo is not installed (Debian: python3-kazoo)");
        List<String> command = new ArrayList<>(
                List.of(PYTHON, Path.of("src", "test", "scripts", script).toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Compiles a program without running it, or skips the test where there is no Python; 0 if it compiles. */
    static int compile(Path program) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of(PYTHON)), "there is no " + PYTHON);
        return new ProcessBuilder(PYTHON, "-m", "py_compile", program.toString())
                .inheritIO()
                .start()
                .waitFor();
    }

    private static boolean isInstalled() throws InterruptedException {
        try {
            return new ProcessBuilder(PYTHON, "-c", "import kazoo")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
