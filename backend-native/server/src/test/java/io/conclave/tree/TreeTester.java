package io.conclave.tree;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A state that moves on, with short words for what tests do to it. */
final class TreeTester {
    static final UUID CLUSTER = new UUID(1, 2);
    static final List<AuthId> NO_IDS = List.of();

    TreeState state = TreeState.initial(CLUSTER, 7);
    Applied last;
    long timeMs = 1_000;

    Applied apply(Change change) {
        last = Tree.apply(state, change, timeMs);
        state = last.state();
        return last;
    }

    static SessionPassword password(int seed) {
        byte[] bytes = new byte[SessionPassword.BYTES];
        bytes[3] = (byte) seed;
        return SessionPassword.of(bytes);
    }

    TreeTester open(long session) {
        assertInstanceOf(
                Result.SessionAttached.class,
                apply(new Change.OpenSession(session, password(1), 5_000)).result());
        return this;
    }

    long attachment(long session) {
        return state.session(session).map(SessionRecord::attachment).orElse(99L);
    }

    Result request(long session, List<AuthId> ids, TreeOperation operation) {
        return apply(new Change.Request(session, attachment(session), ids, operation))
                .result();
    }

    Result request(long session, TreeOperation operation) {
        return request(session, NO_IDS, operation);
    }

    static TreeOperation.Create create(String path, ZnodeKind mode) {
        return new TreeOperation.Create(path, bytes("x"), ZnodeAcl.OPEN, mode);
    }

    static TreeOperation.Create create(String path) {
        return create(path, ZnodeKind.PERSISTENT);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    ZnodeStat stat(String path) {
        return TreeReads.exists(state, path, List.of());
    }

    List<String> children(String path) {
        List<String> names =
                new ArrayList<>(TreeReads.children(state, path, List.of()).names());
        names.sort(null);
        return names;
    }

    List<String> events() {
        return last.events().stream()
                .map(event -> event.type() + " " + event.path())
                .toList();
    }
}
