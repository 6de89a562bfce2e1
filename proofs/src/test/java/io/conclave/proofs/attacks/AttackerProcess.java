package io.conclave.proofs.attacks;

import io.conclave.proofs.faults.ChildJvm;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The attackers in a process of their own, with the least priority: on a machine of few cores they should take the
 * servers' time by what they ask for, and not by taking the processor.
 */
public final class AttackerProcess implements AutoCloseable {
    private static final Path NICE = Path.of("/usr/bin/nice");
    private static final String BURN = "BURN";

    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;

    AttackerProcess() throws IOException {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(NICE)) {
            command.addAll(List.of(NICE.toString(), "-n", "19"));
        }
        command.addAll(ChildJvm.command(
                List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                AttackerProcess.class.getName(),
                List.of()));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        commands = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Returns when the connections begin. */
    void begin(Attack attack, String run, List<Integer> ports, int connectionsPerServer) throws IOException {
        StringBuilder line = new StringBuilder(attack + " " + run + " " + connectionsPerServer);
        ports.forEach(port -> line.append(' ').append(port));
        say(line.toString());
    }

    /**
     * Returns when as many threads as the last attack had begin to take so many seconds of processor time in each
     * second, and do nothing else.
     */
    void burn(double cores) throws IOException {
        say(BURN + " " + cores);
    }

    /** The processor time that it has taken since it began. */
    Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Returns what was sent, when all of its connections are closed. */
    String end() throws IOException {
        return say("end");
    }

    private String say(String line) throws IOException {
        commands.write(line + "\n");
        commands.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the process of the attackers has ended");
        }
        return answer;
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Begins and ends attacks as the lines of its input say. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int threads = 1; // of the last attack
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            if (words.get(0).equals(BURN)) {
                Burner burner = new Burner(Double.parseDouble(words.get(1)), threads);
                System.out.println("begun");
                in.readLine();
                burner.close();
                System.out.println("burnt");
            } else {
                List<Integer> ports =
                        words.stream().skip(3).map(Integer::valueOf).toList();
                Attackers attackers = new Attackers(
                        Attack.valueOf(words.get(0)), words.get(1), ports, Integer.parseInt(words.get(2)));
                threads = attackers.threads();
                System.out.println("begun");
                in.readLine();
                attackers.close();
                System.out.println(attackers.describe());
            }
        }
    }
}
