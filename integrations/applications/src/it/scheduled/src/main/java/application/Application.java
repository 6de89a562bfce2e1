package application;

import io.conclave.ensemble.ConclaveEnsemble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Two processes with one scheduled job. The leader is killed with -9, the other one takes over, and no tick runs twice:
 * each second has one tick at most, each token one process, and no token comes after a larger one.
 */
public final class Application {
    private static final int ENOUGH = 3;

    private Application() {}

    /** A run of the job. */
    private record Tick(long second, String token, long process) {
        static Tick of(String line) {
            String[] words = line.split(" ");
            return new Tick(Long.parseLong(words[0]), words[1], Long.parseLong(words[2]));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path file = Files.createTempFile("ticks", ".txt");
        try (ConclaveEnsemble servers = ConclaveEnsemble.start(1)) {
            Process first = start(servers.connectString(), file);
            Process second = start(servers.connectString(), file);
            try {
                await(file, first, ticks -> ticks.size() >= ENOUGH);
                List<Tick> before = ticks(file);
                long killed = before.get(before.size() - 1).process();
                Process leader = first.pid() == killed ? first : second;
                Process other = leader == first ? second : first;
                leader.destroyForcibly().waitFor();
                await(file, other, ticks -> count(ticks, other.pid()) >= ENOUGH);
                other.destroy();
                if (!other.waitFor(2, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("The application does not stop");
                }
                check(ticks(file), killed, other.pid());
            } finally {
                first.destroyForcibly();
                second.destroyForcibly();
            }
        }
        System.out.println("No tick ran twice:\n" + Files.readString(file));
        Files.delete(file);
    }

    private static Process start(String connectString, Path file) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "application.Reports",
                        "--conclave.connect-string=" + connectString,
                        "--conclave.session-timeout=6s",
                        "--ticks=" + file)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void await(Path file, Process process, Predicate<List<Tick>> isReached) throws Exception {
        for (int looks = 0; !isReached.test(ticks(file)); looks++) {
            if (process.waitFor(100, TimeUnit.MILLISECONDS) || looks > 3000) {
                throw new IllegalStateException("Waited in vain; the ticks so far:\n" + Files.readString(file));
            }
        }
    }

    private static List<Tick> ticks(Path file) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Tick::of).toList();
    }

    private static long count(List<Tick> ticks, long process) {
        return ticks.stream().filter(tick -> tick.process() == process).count();
    }

    private static void check(List<Tick> ticks, long killed, long other) {
        Set<Long> seconds = new HashSet<>();
        Map<String, Long> processes = new HashMap<>();
        String largest = "";
        for (Tick tick : ticks) {
            require(seconds.add(tick.second()), "a tick ran twice", ticks);
            require(
                    processes.computeIfAbsent(tick.token(), token -> tick.process()) == tick.process(),
                    "two processes led with one token",
                    ticks);
            require(tick.token().compareTo(largest) >= 0, "a former leader ran a tick", ticks); // fixed width
            largest = tick.token();
        }
        require(Set.of(killed, other).equals(Set.copyOf(processes.values())), "not both processes led", ticks);
    }

    private static void require(boolean holds, String failure, List<Tick> ticks) {
        if (!holds) {
            throw new IllegalStateException(failure + ": " + ticks);
        }
    }
}
