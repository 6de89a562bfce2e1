package io.conclave.consensus;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/** Which addresses count as one, where hosts are counted that nobody knows. Does not block. */
public final class HostNetwork {
    private static final int IPV6_BYTES = 16;

    private HostNetwork() {}

    /**
     * The first address of the network that a host has for itself: of IPv6 that of its 64 bits, since a host may have
     * any address in there; of IPv4 its own.
     */
    public static InetAddress of(InetAddress address) {
        return hasManyAddresses(address) ? of(address.getAddress()) : address;
    }

    /**
     * The same of an address as bytes.
     *
     * @throws IllegalArgumentException if they are neither 4 nor 16
     */
    public static InetAddress of(byte[] address) {
        byte[] first = address.clone();
        if (first.length == IPV6_BYTES) {
            Arrays.fill(first, IPV6_BYTES / 2, IPV6_BYTES, (byte) 0);
        }
        try {
            return InetAddress.getByAddress(first);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("an IP address has 4 or 16 bytes, not " + first.length, e);
        }
    }

    /** The same of an address as a number; what is none stays as it is. */
    public static String of(String host) {
        byte[] address = NetUtil.createByteArrayFromIpAddressString(host);
        return address == null ? host : of(address).getHostAddress();
    }

    /** Whether a host may have other addresses in its network. */
    public static boolean hasManyAddresses(InetAddress address) {
        return address.getAddress().length == IPV6_BYTES;
    }
}
