package io.conclave.locks;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.GuaranteedDelete;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.testkit.contract.TestStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is ours goes, whether or not it was found before; what is not ours stays. */
class GuaranteedDeleteTest {
    private static final NodePath PARENT = NodePath.of("/parent");

    @RegisterExtension
    final TestStore store = new TestStore();

    private final Coordinator coordinator = store.builder().connect();

    @BeforeEach
    void createChildren() throws Exception {
        coordinator.execute(Create.of(PARENT));
        coordinator.execute(Create.of(PARENT.child("ours")));
        coordinator.execute(Create.of(PARENT.child("other")));
    }

    @AfterEach
    void close() {
        coordinator.close();
    }

    private void delete(String name, Consumer<GuaranteedDelete> how) throws Exception {
        RecipeSession session = RecipeAccess.session(coordinator);
        CompletableFuture<Void> done = new CompletableFuture<>();
        GuaranteedDelete deletion = new GuaranteedDelete(
                session,
                PARENT,
                names -> names.stream().filter(name::equals).map(PARENT::child).toList(),
                done);
        session.execute(() -> how.accept(deletion));
        done.get(120, SECONDS);
    }

    private List<String> children() throws Exception {
        return coordinator.execute(GetChildren.of(PARENT)).names();
    }

    @Test
    void deletionOfWhatWasNotFoundSearchesForIt() throws Exception {
        delete("ours", GuaranteedDelete::delete);
        assertEquals(List.of("other"), children());
    }

    @Test
    void comparingDeletionOfWhatWasNotFoundSearchesForIt() throws Exception {
        delete("ours", GuaranteedDelete::compareAndDelete);
        assertEquals(List.of("other"), children());
    }

    @Test
    void deletionEndsWhenNothingIsOurs() throws Exception {
        delete("none", GuaranteedDelete::delete);
        assertEquals(2, children().size());
        assertTrue(children().containsAll(List.of("ours", "other")));
    }

    /** A release that comes late must not delete the lock of another holder, whatever name that has. */
    @Test
    void znodeThatAnotherHasMadeUnderTheSameNameMeanwhileIsLeftAlone() throws Exception {
        NodePath ours = PARENT.child("ours");
        RecipeSession session = RecipeAccess.session(coordinator);
        long czxid = coordinator.execute(Exists.of(ours)).orElseThrow().czxid();
        CompletableFuture<Void> done = new CompletableFuture<>();
        GuaranteedDelete deletion = new GuaranteedDelete(session, PARENT, names -> List.of(ours), done);
        CompletableFuture<Void> found = new CompletableFuture<>();
        session.execute(() -> {
            deletion.found(List.of(ours), czxid);
            found.complete(null);
        });
        found.get(120, SECONDS);
        store.faults().drop(session.id());
        coordinator.execute(Delete.of(ours));
        coordinator.execute(Create.of(ours));
        session.execute(deletion::delete);
        done.get(120, SECONDS);
        assertTrue(children().contains("ours"));
    }
}
