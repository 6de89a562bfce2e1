package io.conclave.commit;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.ArrayList;
import java.util.List;

/** Where the tests of the two-phase commit's contract work. */
abstract class CommitFixture extends RecipeFixture {
    static final String PATH = "/transfers";

    /** Waits until nothing of any transaction is left but the parents. */
    static void awaitNothingLeft(Coordinator coordinator, String... sites) {
        await().atMost(PATIENCE).until(() -> {
            List<String> left = new ArrayList<>(children(coordinator, PATH + "/transactions"));
            for (String site : sites) {
                left.addAll(children(coordinator, PATH + "/sites/" + site));
            }
            return left.isEmpty();
        });
    }
}
