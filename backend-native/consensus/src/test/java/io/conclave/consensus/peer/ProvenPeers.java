package io.conclave.consensus.peer;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** Members with secrets of the cluster. */
abstract class ProvenPeers extends OpenedPeers {
    static final byte[] A = secret(1);
    static final byte[] B = secret(2);
    static final byte[] C = secret(3);
    static final PeerSecrets HAS_A = required(A);

    static byte[] secret(int fill) {
        byte[] bytes = new byte[PeerSecrets.LEAST_BYTES];
        Arrays.fill(bytes, (byte) fill);
        return bytes;
    }

    static PeerSecrets required(byte[]... secrets) {
        return PeerSecrets.of(PeerAuthentication.REQUIRED, List.of(secrets));
    }

    final TestPeer open(PeerFacts facts, PeerSecrets secrets, UnaryOperator<PeerOptions.Builder> with) {
        return kept(TestPeer.open(
                facts, 0, options -> with.apply(options.secrets(() -> secrets).tls(tls()))));
    }

    final TestPeer open(int id, PeerSecrets secrets) {
        return open(TestPeer.facts(id), secrets, options -> options.redialMs(1, 5));
    }

    static PeerFacts of(int id, long directory) {
        return new PeerFacts(TestPeer.CLUSTER, id, directory, 1, "", 0, false);
    }
}
