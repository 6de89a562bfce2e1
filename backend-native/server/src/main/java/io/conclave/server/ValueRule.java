package io.conclave.server;

import java.util.regex.Pattern;

/** What the value of a key may be, for keys whose value is checked and not used. */
enum ValueRule {
    ANYTHING("", ".*"),
    /** In decimal, or in hexadecimal with 0x in front. */
    WHOLE("is not a whole number", "-?([0-9]{1,18}|0[xX][0-9a-fA-F]{1,15})"),
    FRACTION("is not a number such as 0.02", "-?[0-9]{1,18}(\\.[0-9]{1,18})?"),
    PORT(
            "is not a whole number from 0 to 65535",
            "[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"),
    TRUTH("is neither true nor false", "(?i)true|false"),
    YES_OR_NO("is neither yes nor no", "yes|no"),
    /** Hours, or with a unit behind it. */
    INTERVAL("is not a whole number, alone (hours) or with ms, s, m, h or d behind it", "(?i)[0-9]{1,9}(ms|s|m|h|d)?"),
    SERVERS("is not a list of servers' numbers with a colon between two of them", "[0-9]{1,3}(:[0-9]{1,3})*");

    private final String complaint;
    private final Pattern allowed;

    ValueRule(String complaint, String allowed) {
        this.complaint = complaint;
        this.allowed = Pattern.compile(allowed);
    }

    /**
     * The value, of a key that must have one.
     *
     * @throws ConfigException if it is empty
     */
    static String requireFilled(String key, String value) {
        if (value.isEmpty()) {
            throw new ConfigException("key " + key + " has no value");
        }
        return value;
    }

    /** @throws ConfigException that names the key, the value and the rule */
    void check(String key, String value) {
        if (this != ANYTHING) {
            requireFilled(key, value);
        }
        if (!allowed.matcher(value).matches()) {
            throw new ConfigException("key " + key + ": \"" + value + "\" " + complaint);
        }
    }
}
