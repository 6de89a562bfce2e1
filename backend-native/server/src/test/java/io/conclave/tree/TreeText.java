package io.conclave.tree;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** States and results of the real tree as text, in the form in which {@link NaiveTree} gives its own. */
final class TreeText {
    private TreeText() {}

    /** Everything that is in a state. */
    static Map<String, String> dump(TreeState state) {
        Map<String, String> dump = new TreeMap<>();
        dump(dump, "/", state.root());
        state.sessions()
                .forEach((id, session) -> dump.put(
                        "session " + id,
                        session.timeoutMs() + " " + session.attachment() + " " + session.suspicion() + " "
                                + session.ephemerals().sorted()));
        return dump;
    }

    private static void dump(Map<String, String> dump, String path, Znode node) {
        dump.put(path, node.stat() + Arrays.toString(node.data()) + node.acl() + node.isContainer() + node.ttlMs());
        String prefix = path.equals("/") ? "/" : path + "/";
        node.children().forEach((name, child) -> dump(dump, prefix + name, child));
    }

    /** The line that {@link NaiveTree#apply} gives, made from the real result. */
    static String summary(Applied applied) {
        return summary(applied.result());
    }

    private static String summary(Result result) {
        if (result instanceof Result.Failed failed) {
            return Integer.toString(failed.error().code());
        }
        if (result instanceof Result.MultiFailed failed) {
            return Integer.toString(failed.error().code());
        }
        if (result instanceof Result.MultiDone done) {
            return done.results().stream().map(TreeText::summary).toList().toString();
        }
        if (result instanceof Result.Created created) {
            return created.path() + " " + created.stat();
        }
        if (result instanceof Result.DataSet set) {
            return set.stat().toString();
        }
        return result instanceof Result.AclSet set ? set.stat().toString() : "ok";
    }
}
