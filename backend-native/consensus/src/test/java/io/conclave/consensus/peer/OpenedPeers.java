package io.conclave.consensus.peer;

import io.conclave.consensus.PeerTls;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.ReadIndexReply;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;

/** What a test has opened, networks and raw connections, ends with it. */
abstract class OpenedPeers {
    private final List<AutoCloseable> opened = new CopyOnWriteArrayList<>();

    @AfterEach
    final void closeOpened() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    final <T extends AutoCloseable> T kept(T one) {
        opened.add(one);
        return one;
    }

    LinkForm form() {
        return LinkForm.PLAIN;
    }

    final PeerTls tls() {
        return form().tls();
    }

    final RawPeer dial(int port) throws IOException {
        return kept(new RawPeer(form().over(RawPeer.connect(port), true), true));
    }

    final RawPeer dial(TestPeer peer) throws IOException {
        return dial(peer.network.port());
    }

    final RawPeer accept(ServerSocket server) throws IOException {
        return kept(new RawPeer(form().over(server.accept(), false), false));
    }

    /** One that is told from others by its number. */
    static PeerMessage message(long number) {
        return new ReadIndexReply(1, number, 0);
    }
}
