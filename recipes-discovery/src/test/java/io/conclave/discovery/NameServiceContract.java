package io.conclave.discovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.session.Registration;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What names promise on every backend. */
public abstract class NameServiceContract extends RecipeFixture {
    private static final String BASE = "/names";
    private static final List<String> ONE = List.of("10.0.0.7:631");
    private static final List<String> TWO = List.of("[::1]:631", "host-8:631");

    private static NameService names(Coordinator coordinator) {
        return NameService.at(coordinator, BASE);
    }

    private static void awaitLast(List<List<String>> told, List<String> expected) {
        await("told " + told)
                .atMost(PATIENCE)
                .until(() -> !told.isEmpty() && told.get(told.size() - 1).equals(expected));
    }

    @Test
    void nameStandsForWhatItWasBoundToLast() throws Exception {
        NameService mine = names(connect());
        NameService others = names(connect());
        assertEquals(List.of(), mine.resolve("printer"));
        assertEquals(List.of(), mine.names());
        mine.bind("printer", ONE);
        assertEquals(ONE, others.resolve("printer"));
        others.bind("printer", TWO);
        assertEquals(TWO, mine.resolve("printer"));
        assertFalse(mine.bindIfAbsent("printer", ONE));
        assertTrue(mine.bindIfAbsent("scanner", ONE));
        assertEquals(List.of("printer", "scanner"), others.names());
        assertTrue(others.unbind("printer"));
        assertFalse(others.unbind("printer"));
        assertEquals(List.of(), mine.resolve("printer"));
        assertEquals(List.of("scanner"), mine.names());
        assertTrue(mine.bindIfAbsent("printer", TWO));
        assertEquals(TWO, others.resolve("printer"));
    }

    @Test
    void bindingOutlivesItsProcess() throws Exception {
        Coordinator gone = connect();
        names(gone).bind("printer", ONE);
        gone.close();
        assertEquals(ONE, names(connect()).resolve("printer"));
    }

    @Test
    void watchTellsOfEveryStateAlsoAfterALostSession() throws Exception {
        ManualTimeSource clock = jumpingClock();
        NameService others = names(connect());
        Coordinator coordinator = opened(builder().timeSource(clock));
        List<List<String>> told = Collections.synchronizedList(new ArrayList<>());
        Registration watch = names(coordinator).watch("printer", told::add);
        awaitLast(told, List.of());
        others.bind("printer", ONE);
        awaitLast(told, ONE);
        loseSession(coordinator, clock);
        others.bind("printer", TWO);
        awaitLast(told, TWO);
        others.unbind("printer");
        awaitLast(told, List.of());
        watch.close();
    }

    @Test
    void whatAnOperatorWritesIsRead() throws Exception {
        Coordinator coordinator = connect();
        NameService names = names(coordinator);
        names.bind("printer", ONE);
        NodePath path = NodePath.of(BASE + "/printer");
        coordinator.execute(SetData.of(path, "\n  a:1 \r\n\nb:2\n".getBytes(UTF_8)));
        assertEquals(List.of("a:1", "b:2"), names.resolve("printer"));
        coordinator.execute(SetData.of(path, "\n".getBytes(UTF_8)));
        assertEquals(List.of(), names.resolve("printer"));
        assertEquals(List.of(), names.names());
        coordinator.execute(SetData.of(path, new byte[] {(byte) 0xff}));
        assertThrows(IllegalArgumentException.class, () -> names.resolve("printer"));
        assertEquals(List.of("printer"), names.names());
        coordinator.execute(Delete.of(path));
        assertEquals(List.of(), names.resolve("printer"));
        names.bind("printer", TWO);
        assertEquals(TWO, names.resolve("printer"));
    }

    @Test
    void nameThatMayNotBeReadCountsNeitherAsBoundNorAsUnbound() throws Exception {
        Coordinator coordinator = connect();
        NameService names = names(coordinator);
        names.bind("printer", ONE);
        Acl deletable = new Acl(List.of(new Acl.Entry(EnumSet.of(Permission.DELETE), "world", "anyone")));
        coordinator.execute(Create.of(NodePath.of(BASE + "/scanner")).withAcl(deletable));
        RefusedException refusal = assertThrows(RefusedException.class, names::names);
        assertEquals(RefusalReason.NO_AUTH, refusal.reason());
        assertEquals(ONE, names.resolve("printer"));
    }

    @Test
    void badInputIsNamed() throws Exception {
        NameService names = names(connect());
        assertThrows(IllegalArgumentException.class, () -> names.bind("a/b", ONE));
        assertThrows(IllegalArgumentException.class, () -> names.resolve(""));
        assertThrows(IllegalArgumentException.class, () -> names.bind("a", List.of()));
        for (String address : List.of("", " ", "a ", "a\nb", "a\u0085b")) {
            assertThrows(IllegalArgumentException.class, () -> names.bindIfAbsent("a", List.of("x", address)));
        }
        assertEquals(List.of(), names.names());
        assertTrue(names.toString().contains(BASE));
    }
}
