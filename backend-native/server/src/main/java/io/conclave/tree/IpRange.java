package io.conclave.tree;

import org.jspecify.annotations.Nullable;

/** The ids of the {@code ip} scheme: an IPv4 or IPv6 address, with {@code /bits} for a whole network. */
final class IpRange {
    private IpRange() {}

    static boolean isValid(String range) {
        int slash = range.indexOf('/');
        byte[] network = bytesOf(slash < 0 ? range : range.substring(0, slash));
        return network != null && bitsOf(range, slash, network.length * 8) >= 0;
    }

    static boolean matches(String range, String address) {
        int slash = range.indexOf('/');
        byte[] network = bytesOf(slash < 0 ? range : range.substring(0, slash));
        byte[] caller = bytesOf(address);
        if (network == null || caller == null || network.length != caller.length) {
            return false;
        }
        int bits = bitsOf(range, slash, network.length * 8);
        return bits >= 0 && sameBits(network, caller, bits);
    }

    private static boolean sameBits(byte[] left, byte[] right, int bits) {
        for (int i = 0; i < bits; i++) {
            int mask = 0x80 >> (i % 8);
            if ((left[i / 8] & mask) != (right[i / 8] & mask)) {
                return false;
            }
        }
        return true;
    }

    /** The length of the network's prefix, or -1 if it is not a number from 0 to {@code max}. */
    private static int bitsOf(String range, int slash, int max) {
        if (slash < 0) {
            return max;
        }
        int bits = number(range.substring(slash + 1), 10, 3);
        return bits <= max ? bits : -1;
    }

    private static byte @Nullable [] bytesOf(String address) {
        return address.indexOf(':') >= 0 ? v6(address) : v4(address);
    }

    private static byte @Nullable [] v4(String address) {
        String[] parts = address.split("\\.", -1);
        if (parts.length != 4) {
            return null;
        }
        byte[] bytes = new byte[4];
        for (int i = 0; i < 4; i++) {
            int value = number(parts[i], 10, 3);
            if (value < 0 || value > 255) {
                return null;
            }
            bytes[i] = (byte) value;
        }
        return bytes;
    }

    private static byte @Nullable [] v6(String address) {
        String[] halves = address.split("::", -1);
        if (halves.length > 2) {
            return null;
        }
        String[] head = segments(halves[0]);
        String[] tail = halves.length == 2 ? segments(halves[1]) : new String[0];
        int given = head.length + tail.length;
        if (halves.length == 1 ? given != 8 : given > 7) {
            return null;
        }
        byte[] bytes = new byte[16];
        return fill(bytes, 0, head) && fill(bytes, 8 - tail.length, tail) ? bytes : null;
    }

    private static String[] segments(String half) {
        return half.isEmpty() ? new String[0] : half.split(":", -1);
    }

    private static boolean fill(byte[] bytes, int firstSegment, String[] segments) {
        for (int i = 0; i < segments.length; i++) {
            int value = number(segments[i], 16, 4);
            if (value < 0) {
                return false;
            }
            bytes[2 * (firstSegment + i)] = (byte) (value >> 8);
            bytes[2 * (firstSegment + i) + 1] = (byte) value;
        }
        return true;
    }

    /** The value of one to {@code maxDigits} digits, or -1. */
    private static int number(String text, int radix, int maxDigits) {
        if (text.isEmpty() || text.length() > maxDigits) {
            return -1;
        }
        int value = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = Character.digit(text.charAt(i), radix);
            if (digit < 0) {
                return -1;
            }
            value = value * radix + digit;
        }
        return value;
    }
}
