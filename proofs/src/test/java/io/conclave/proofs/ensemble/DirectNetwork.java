package io.conclave.proofs.ensemble;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** All members on the loopback interface with nothing in between: for measurements. Its links cannot be broken. */
final class DirectNetwork implements PeerNetwork {
    @Override
    public String nameOf(int member) {
        return "127.0.0.1";
    }

    @Override
    public String clientHostOf(int member) {
        return "127.0.0.1";
    }

    @Override
    public String clientBindAddressOf(int member) {
        return "127.0.0.1";
    }

    @Override
    public void open(Path home, List<PeerPorts> ports) {
        // nothing is needed
    }

    @Override
    public List<String> commandPrefixOf(int member) {
        return List.of();
    }

    @Override
    public List<String> jvmOptionsOf(int member) {
        return List.of();
    }

    @Override
    public void cut(int from, int to) {
        throw new UnsupportedOperationException("nothing lies between " + from + " and " + to + " that could be cut");
    }

    @Override
    public void mend(int from, int to) {
        // nothing was cut
    }

    @Override
    public boolean delay(int from, int to, Duration delay) {
        return false;
    }

    @Override
    public void close() {
        // nothing is open
    }
}
