package io.conclave.benchmarks;

/**
 * How much is asked at once.
 *
 * @param sessions the number of sessions, each with its own connection
 * @param outstanding how many requests each session keeps under way
 */
record Shape(int sessions, int outstanding) {
    /** Reads a shape from a text such as {@code 50x100}. */
    static Shape parse(String text) {
        String[] parts = text.split("x", -1);
        if (parts.length == 2 && isCount(parts[0]) && isCount(parts[1])) {
            return new Shape(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
        }
        throw new IllegalArgumentException("Invalid shape \"" + text
                + "\": it must be sessions x outstanding, such as 50x100, each from 1 to 9999");
    }

    private static boolean isCount(String text) {
        return text.matches("[1-9][0-9]{0,3}");
    }

    @Override
    public String toString() {
        return sessions + "x" + outstanding;
    }
}
