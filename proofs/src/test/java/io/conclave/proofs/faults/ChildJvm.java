package io.conclave.proofs.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How tests start another JVM with their classes, and send it signals. */
public final class ChildJvm {
    /** That of this JVM. */
    public static final String CLASS_PATH = System.getProperty("java.class.path");

    private ChildJvm() {}

    /** The command line of a main class; its log goes to the console, at level INFO. */
    static List<String> command(List<String> jvmOptions, Class<?> mainClass, String... arguments) {
        List<String> options = new ArrayList<>(jvmOptions);
        options.add("-XX:TieredStopAtLevel=1"); // starts sooner, and leaves the two cores to others
        return command(options, mainClass.getName(), List.of(arguments));
    }

    /** The same with no options but these. */
    public static List<String> command(List<String> jvmOptions, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.add("-Dlogback.configurationFile=server-process-logging.xml");
        command.add("-cp");
        command.add(CLASS_PATH);
        command.add(mainClass);
        command.addAll(arguments);
        return command;
    }

    /** Sends a signal by its name, as {@code kill -STOP} does; returns when the kernel has taken it. */
    public static void signal(Process process, String name) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .start();
            if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("kill -" + name + " " + process.pid() + " failed");
            }
        } catch (IOException e) {
            throw new IllegalStateException("no command kill here", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** What is in a file; nothing if there is none. */
    public static String textOf(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file, StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw new IllegalStateException(file.toString(), e);
        }
    }
}
