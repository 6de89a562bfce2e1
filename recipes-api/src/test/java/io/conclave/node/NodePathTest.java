package io.conclave.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodePathTest {
    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/a", "/a/b", "/a.b/..c/.d./...", "/\u00e4/\u4e2d", "/a b", "/\u00a0", "/\uf900", "/\uffef"
            })
    void goodPathsAreKept(String text) {
        assertEquals(text, NodePath.of(text).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "a/b",
                "/a/",
                "//",
                "//a",
                "/a//b",
                "/.",
                "/..",
                "/a/./b",
                "/a/..",
                "/a\u0000",
                "/a\u0001b",
                "/\u001f",
                "/\u007f",
                "/\u009f",
                "/\ud83d\ude00",
                "/\ue000",
                "/\uf8ff",
                "/\ufff0",
                "/\uffff"
            })
    void badPathsAreRefusedByName(String text) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> NodePath.of(text));
        assertTrue(refusal.getMessage().contains("\"" + text + "\": must"), refusal::getMessage);
    }

    @Test
    void childrenAndParentsFitTogether() {
        NodePath path = NodePath.of("/a/b");
        assertEquals(NodePath.of("/a/b/c"), path.child("c"));
        assertEquals(Optional.of(path), path.child("c").parent());
        assertEquals("b", path.name());
        assertEquals(NodePath.of("/x"), NodePath.ROOT.child("x"));
        assertEquals(Optional.of(NodePath.ROOT), NodePath.of("/a").parent());
        assertEquals(Optional.empty(), NodePath.ROOT.parent());
        assertThrows(IllegalArgumentException.class, () -> path.child("c/d"));
        assertThrows(IllegalArgumentException.class, () -> path.child(""));
        assertThrows(IllegalArgumentException.class, () -> path.child(".."));
    }

    @Test
    void namespaceGoesInFront() {
        NodePath namespace = NodePath.of("/app");
        assertEquals(NodePath.of("/app/a"), NodePath.of("/a").within(namespace));
        assertEquals(namespace, NodePath.ROOT.within(namespace));
        assertEquals(NodePath.of("/a"), NodePath.of("/a").within(NodePath.ROOT));
    }
}
