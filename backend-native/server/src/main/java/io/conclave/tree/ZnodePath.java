package io.conclave.tree;

/** The rules for paths of znodes, and the way from a path to its parent. */
final class ZnodePath {
    /** The node that lists the members of the cluster; it cannot be deleted. */
    static final String CONFIG = "/zookeeper/config";

    private ZnodePath() {}

    /** The nodes that every tree has and keeps. */
    static boolean isProtected(String path) {
        return switch (path) {
            case "/", "/zookeeper", "/zookeeper/quota", CONFIG -> true;
            default -> false;
        };
    }

    /** Refuses with BAD_ARGUMENTS what cannot be the path of a node. */
    static void validate(String path) {
        if (!isValid(path)) {
            throw TreeException.of(TreeError.BAD_ARGUMENTS);
        }
    }

    static boolean isValid(String path) {
        if (path.isEmpty() || path.charAt(0) != '/') {
            return false;
        }
        if (path.length() == 1) {
            return true;
        }
        int start = 1;
        for (int i = 1; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '/') {
                if (!isName(path, start, i)) {
                    return false;
                }
                start = i + 1;
            } else if (!isAllowed(c)) {
                return false;
            }
        }
        return isName(path, start, path.length());
    }

    private static boolean isName(String path, int start, int end) {
        return switch (end - start) {
            case 0 -> false;
            case 1 -> path.charAt(start) != '.';
            case 2 -> path.charAt(start) != '.' || path.charAt(start + 1) != '.';
            default -> true;
        };
    }

    private static boolean isAllowed(char c) {
        return c > 0x1f && (c < 0x7f || c > 0x9f) && (c < 0xd800 || c > 0xf8ff) && c < 0xfff0;
    }

    /** The last slash of the path of a node to be created or removed; BAD_ARGUMENTS if it has none, or a NUL. */
    static int lastSlash(String path) {
        int slash = path.lastIndexOf('/');
        if (slash < 0 || path.indexOf('\0') >= 0) {
            throw TreeException.of(TreeError.BAD_ARGUMENTS);
        }
        return slash;
    }

    /** The parent's path for the eyes of clients: what ends in front of the last slash, {@code /} for the root. */
    static String parentOf(String path, int lastSlash) {
        return lastSlash == 0 ? "/" : path.substring(0, lastSlash);
    }
}
