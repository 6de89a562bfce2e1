package io.conclave.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** A path is given to a request as text or as a {@link NodePath}. */
class PathsOfRequestsTest {
    private static final byte[] DATA = {1};

    private static final Map<Function<String, Request<?>>, Function<NodePath, Request<?>>> FORMS = Map.ofEntries(
            Map.entry(Create::of, Create::of),
            Map.entry(Delete::of, Delete::of),
            Map.entry(text -> SetData.of(text, DATA), path -> SetData.of(path, DATA)),
            Map.entry(text -> SetAcl.of(text, Acl.OPEN), path -> SetAcl.of(path, Acl.OPEN)),
            Map.entry(Exists::of, Exists::of),
            Map.entry(GetData::of, GetData::of),
            Map.entry(GetAcl::of, GetAcl::of),
            Map.entry(GetChildren::of, GetChildren::of),
            Map.entry(Sync::of, Sync::of),
            Map.entry(Check::exists, Check::exists));

    @Test
    void aPathIsTakenAsTextAndAsNodePath() {
        FORMS.forEach((ofText, ofPath) -> assertEquals(ofPath.apply(NodePath.of("/a/b")), ofText.apply("/a/b")));
    }

    @Test
    void aTextThatIsNoPathIsRefusedByName() {
        for (Function<String, Request<?>> ofText : FORMS.keySet()) {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> ofText.apply("orders/17"));
            assertTrue(refusal.getMessage().contains("orders/17"), refusal::getMessage);
        }
    }
}
