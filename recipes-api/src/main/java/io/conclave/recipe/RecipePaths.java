package io.conclave.recipe;

import io.conclave.node.NodePath;

/** What recipes ask of the paths that they are given. */
public final class RecipePaths {
    private RecipePaths() {}

    /**
     * Refuses the root, which is always there and belongs to nobody.
     *
     * @param recipe which needs a znode of its own, with its article, as in "a lock"
     * @throws IllegalArgumentException if it is the root
     */
    public static void requireOwn(NodePath path, String recipe) {
        if (path.isRoot()) {
            String name = recipe.substring(recipe.indexOf(' ') + 1);
            throw new IllegalArgumentException(
                    "Invalid " + name + " path \"/\": " + recipe + " needs a znode of its own");
        }
    }
}
