package io.conclave.replica;

import io.conclave.consensus.entry.EnsembleMember;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A member in the words of {@code zoo.cfg}:
 * {@code host:peerPort[:electionPort][:participant|observer][;[clientAddress:]clientPort]}.
 *
 * @param member what it says; the directory is not known yet
 * @param namesElectionPort whether it names a second port, which is not needed here
 */
public record MemberLine(EnsembleMember member, boolean namesElectionPort) {
    public static final int MAX_ID = 255;
    private static final String FORM =
            "host:peerPort[:electionPort][:participant|observer][;[clientAddress:]clientPort]";

    /**
     * Reads what stands behind {@code server.N=}.
     *
     * @throws IllegalArgumentException if it is not of that form; the message says what is wrong with it
     */
    public static MemberLine parse(int id, String text) {
        if (text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("the line of server " + id + " has a control character");
        }
        if (text.indexOf('|') >= 0) {
            throw new IllegalArgumentException("\"" + text + "\": several addresses for one server are not supported");
        }
        String[] halves = text.split(";", -1);
        if (halves.length > 2) {
            throw new IllegalArgumentException("\"" + text + "\" has more than one ';'; it must be " + FORM);
        }
        List<String> parts = parts(text, halves[0].strip());
        boolean observer = false;
        String last = parts.get(parts.size() - 1).toLowerCase(Locale.ROOT);
        if (last.equals("observer") || last.equals("participant")) {
            observer = last.equals("observer");
            parts.remove(parts.size() - 1);
        }
        if (parts.size() < 2 || parts.size() > 3 || parts.get(0).isEmpty()) {
            throw new IllegalArgumentException("\"" + text + "\" is not of the form " + FORM);
        }
        int peerPort = port(text, "peer port", parts.get(1));
        if (parts.size() == 3) {
            electionPort(text, parts.get(2));
        }
        String clientAddress = "";
        int clientPort = 0;
        if (halves.length == 2) {
            List<String> client = parts(text, halves[1].strip());
            if (client.size() > 2) {
                throw new IllegalArgumentException("\"" + text + "\" is not of the form " + FORM);
            }
            clientPort = port(text, "client port", client.get(client.size() - 1));
            clientAddress = client.size() == 2 && !isEverywhere(client.get(0)) ? client.get(0) : "";
        }
        checkLength(id, "host", parts.get(0));
        checkLength(id, "client address", clientAddress);
        EnsembleMember member = new EnsembleMember(id, 0, parts.get(0), peerPort, clientAddress, clientPort, observer);
        return new MemberLine(member, parts.size() == 3 && !isNone(parts.get(2)));
    }

    private static void checkLength(int id, String what, String host) {
        if (host.length() > EnsembleMember.MAX_HOST_CHARS) {
            throw new IllegalArgumentException("the " + what + " of server " + id + " has " + host.length()
                    + " characters; at most " + EnsembleMember.MAX_HOST_CHARS + " are allowed");
        }
    }

    private static boolean isEverywhere(String address) {
        return address.equals("0.0.0.0") || address.equals("::") || address.equals("*");
    }

    /** Split at colons, but for those of an IPv6 address in brackets. */
    private static List<String> parts(String text, String half) {
        List<String> parts = new ArrayList<>();
        String rest = half;
        if (half.startsWith("[")) {
            int end = half.indexOf(']');
            if (end < 0 || (end + 1 < half.length() && half.charAt(end + 1) != ':')) {
                throw new IllegalArgumentException("\"" + text + "\": the address in [...] is not closed");
            }
            parts.add(half.substring(1, end));
            rest = end + 1 < half.length() ? half.substring(end + 2) : "";
            if (rest.isEmpty()) {
                return parts;
            }
        }
        parts.addAll(List.of(rest.split(":", -1)));
        return parts;
    }

    /** 0 stands for none, as in the list of the members that clients are shown. */
    private static void electionPort(String text, String value) {
        if (!isNone(value)) {
            port(text, "election port", value);
        }
    }

    private static boolean isNone(String electionPort) {
        return electionPort.strip().equals("0");
    }

    private static int port(String text, String what, String value) {
        try {
            int port = Integer.parseInt(value.strip());
            if (port >= 1 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // said below like any other bad value
        }
        throw new IllegalArgumentException(
                "\"" + text + "\": the " + what + " \"" + value + "\" is not a number from 1 to 65535");
    }
}
