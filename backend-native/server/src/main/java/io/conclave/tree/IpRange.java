package io.conclave.tree;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An id of the {@code ip} scheme: an IPv4 or IPv6 address, with {@code /bits} for a whole network. Immutable.
 */
final class IpRange {
    private final byte[] network;

    /** How many of the network's, from the first on, an address must share. */
    private final int bits;

    private IpRange(byte[] network, int bits) {
        this.network = network;
        this.bits = bits;
    }

    /** The range of that text, null if it is malformed. */
    static @Nullable IpRange of(String text) {
        int slash = text.indexOf('/');
        byte[] network = address(slash < 0 ? text : text.substring(0, slash));
        if (network == null) {
            return null;
        }
        int bits = bitsOf(text, slash, network.length * 8);
        return bits < 0 ? null : new IpRange(network, bits);
    }

    static boolean isValid(String range) {
        return of(range) != null;
    }

    boolean contains(byte[] address) {
        int whole = bits / 8;
        int mask = (0xff00 >> (bits % 8)) & 0xff;
        return network.length == address.length
                && Arrays.equals(network, 0, whole, address, 0, whole)
                && (mask == 0 || ((network[whole] ^ address[whole]) & mask) == 0);
    }

    /** The length of the network's prefix, or -1 if it is not a number from 0 to {@code max}. */
    private static int bitsOf(String range, int slash, int max) {
        if (slash < 0) {
            return max;
        }
        int bits = number(range.substring(slash + 1), 10, 3);
        return bits <= max ? bits : -1;
    }

    /** The bytes of an address, null if it is malformed. */
    static byte @Nullable [] address(String address) {
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
        int gap = address.indexOf("::");
        if (gap >= 0 && address.indexOf("::", gap + 2) >= 0) {
            return null;
        }
        String[] head = segments(gap < 0 ? address : address.substring(0, gap));
        String[] tail = segments(gap < 0 ? "" : address.substring(gap + 2));
        int given = head.length + tail.length;
        if (gap < 0 ? given != 8 : given > 7) {
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
