package io.conclave.node;

import java.util.Objects;
import java.util.Optional;

/**
 * An absolute, canonical path of a znode; equal paths name the same znode.
 *
 * <p>A path starts with a slash, has no trailing slash, no empty, "." or ".." component and none of the characters that
 * ZooKeeper forbids: NUL, control characters, surrogates, private use U+F8FF and U+FFF0 to U+FFFF.
 */
public final class NodePath implements Comparable<NodePath> {
    /** The root of the tree, or of the coordinator's namespace. */
    public static final NodePath ROOT = new NodePath("/");

    private final String text;

    private NodePath(String text) {
        this.text = text;
    }

    /**
     * Parses a path.
     *
     * @throws IllegalArgumentException naming the path and the rule that it breaks
     */
    public static NodePath of(String text) {
        Objects.requireNonNull(text, "path");
        if (text.isEmpty() || text.charAt(0) != '/') {
            throw invalid(text, "must start with '/'");
        }
        if (text.length() == 1) {
            return ROOT;
        }
        if (text.charAt(text.length() - 1) == '/') {
            throw invalid(text, "must not end with '/'");
        }
        int start = 1;
        while (start <= text.length()) {
            int slash = text.indexOf('/', start);
            int end = slash < 0 ? text.length() : slash;
            checkComponent(text, start, end);
            start = end + 1;
        }
        return new NodePath(text);
    }

    /**
     * The path of a child.
     *
     * @param name one component, without a slash
     * @throws IllegalArgumentException naming the component and the rule that it breaks
     */
    public NodePath child(String name) {
        Objects.requireNonNull(name, "name");
        if (name.indexOf('/') >= 0) {
            throw invalid(name, "a child's name must not contain '/'");
        }
        checkComponent(name, 0, name.length());
        return new NodePath(isRoot() ? "/" + name : text + "/" + name);
    }

    /** The parent, or empty for the root. */
    public Optional<NodePath> parent() {
        if (isRoot()) {
            return Optional.empty();
        }
        int slash = text.lastIndexOf('/');
        return Optional.of(slash == 0 ? ROOT : new NodePath(text.substring(0, slash)));
    }

    /** The last component; empty for the root. */
    public String name() {
        return text.substring(text.lastIndexOf('/') + 1);
    }

    /** This path read inside a namespace: {@code /a/b} within {@code /app} is {@code /app/a/b}. */
    public NodePath within(NodePath namespace) {
        if (namespace.isRoot()) {
            return this;
        }
        return isRoot() ? namespace : new NodePath(namespace.text + text);
    }

    /** Whether this is the root. */
    public boolean isRoot() {
        return text.length() == 1;
    }

    @Override
    public int compareTo(NodePath other) {
        return text.compareTo(other.text);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NodePath path && path.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The path as text. */
    @Override
    public String toString() {
        return text;
    }

    private static void checkComponent(String text, int start, int end) {
        if (start == end) {
            throw invalid(text, "must not have an empty component");
        }
        if (text.charAt(start) == '.' && (end - start == 1 || (end - start == 2 && text.charAt(start + 1) == '.'))) {
            throw invalid(text, "must not have a '.' or '..' component");
        }
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            if (isForbidden(c)) {
                throw invalid(text, String.format("must not contain the character U+%04X (at %d)", (int) c, i));
            }
        }
    }

    private static boolean isForbidden(char c) {
        return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
    }

    private static IllegalArgumentException invalid(String text, String rule) {
        return new IllegalArgumentException("Invalid path \"" + text + "\": " + rule);
    }
}
