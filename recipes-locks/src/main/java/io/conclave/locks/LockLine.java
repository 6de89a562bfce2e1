package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import java.util.Objects;

/**
 * Where a lock is, and what its contenders leave there.
 *
 * @param coordinator whose sessions own the places
 * @param path the line's znode
 * @param layout how the places are named
 * @param data what others see of a contender; not copied
 */
record LockLine(Coordinator coordinator, NodePath path, LockLayout layout, byte[] data) {
    /** In Curator's layout; contenders leave the process id and the host's name. */
    static LockLine at(Coordinator coordinator, NodePath path) {
        RecipePaths.requireOwn(path, "a lock");
        return new LockLine(
                Objects.requireNonNull(coordinator, "coordinator"), path, LockLayout.CURATOR, ProcessName.bytes());
    }

    LockLine withData(byte[] newData) {
        return new LockLine(coordinator, path, layout, newData.clone());
    }

    LockLine withLayout(LockLayout newLayout) {
        return new LockLine(coordinator, path, newLayout, data);
    }

    RecipeSession session() {
        return RecipeAccess.session(coordinator);
    }
}
