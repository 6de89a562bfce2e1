package io.conclave.proofs.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Each member in a network namespace of its own on a bridge, so that cuts and delays happen to packets, whatever the
 * processes do with their connections. {@code scripts/namespaces} makes the namespaces {@code conclave-1},
 * {@code conclave-2} and so on with the addresses 10.77.0.1, 10.77.0.2 and so on; clients are outside, on the bridge.
 * Needs root.
 */
final class NamespaceNetwork implements PeerNetwork {
    private static final String DEVICE = "eth0";

    @Override
    public String nameOf(int member) {
        return "10.77.0." + member;
    }

    @Override
    public String clientHostOf(int member) {
        return nameOf(member);
    }

    @Override
    public String clientBindAddressOf(int member) {
        return nameOf(member);
    }

    @Override
    public void open(Path home, List<PeerPorts> ports) {
        for (int member = 1; member <= ports.size(); member++) {
            run(member, "iptables", "-F", "INPUT");
        }
    }

    @Override
    public List<String> commandPrefixOf(int member) {
        return List.of("ip", "netns", "exec", "conclave-" + member);
    }

    @Override
    public List<String> jvmOptionsOf(int member) {
        return List.of();
    }

    @Override
    public void cut(int from, int to) {
        run(to, "iptables", "-A", "INPUT", "-s", nameOf(from), "-j", "DROP");
    }

    @Override
    public void mend(int from, int to) {
        // as often as it was cut
        while (succeeds(to, "iptables", "-D", "INPUT", "-s", nameOf(from), "-j", "DROP")) {
            continue;
        }
    }

    /** Delays what the sender sends to anybody; a second call of the same sender replaces the delay. */
    @Override
    public boolean delay(int from, int to, Duration delay) {
        if (delay.isZero()) {
            succeeds(from, "tc", "qdisc", "del", "dev", DEVICE, "root");
            return true;
        }
        return succeeds(
                from, "tc", "qdisc", "replace", "dev", DEVICE, "root", "netem", "delay", delay.toMillis() + "ms");
    }

    private void run(int member, String... command) {
        if (!succeeds(member, command)) {
            throw new IllegalStateException("in the namespace of member " + member + " this failed: "
                    + String.join(" ", command) + "; see scripts/namespaces");
        }
    }

    private boolean succeeds(int member, String... command) {
        List<String> line = new ArrayList<>(commandPrefixOf(member));
        line.addAll(List.of(command));
        try {
            Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        // the script made the namespaces and removes them
    }
}
