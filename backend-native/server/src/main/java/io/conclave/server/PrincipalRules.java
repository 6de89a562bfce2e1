package io.conclave.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Says which user a Kerberos principal is, by rules in the form of Hadoop's and ZooKeeper's {@code auth_to_local}; the
 * first that fits counts.
 *
 * <ul>
 *   <li>{@code DEFAULT} fits the principals of the server's realm, and gives their first part.
 *   <li>{@code RULE:[n:format](pattern)s/from/to/g} fits the principals of n parts, the realm not counted, whose name
 *   in
 *       the format ($0 is the realm, $1 and $2 are the parts) matches the pattern; then the first {@code from}, or with
 *       g each one, becomes {@code to}. Pattern, replacement and g may be missing.
 * </ul>
 *
 * Immutable.
 */
final class PrincipalRules {
    private static final Pattern RULE =
            Pattern.compile("(?<default>DEFAULT)|RULE:\\[(?<parts>[12]):(?<format>[^\\]]*)\\](\\((?<pattern>[^)]*)\\))?"
                    + "(s/(?<from>[^/]*)/(?<to>[^/]*)/(?<all>g)?)?");

    private static final Pattern PLACE = Pattern.compile("\\$([0-9]*)");

    private final List<Rule> rules;

    private PrincipalRules(List<Rule> rules) {
        this.rules = rules;
    }

    /** One of {@code RULE}; {@code pattern} fits everything and {@code from} replaces nothing if they are null. */
    private record Rule(
            int parts,
            String format,
            @Nullable Pattern pattern,
            @Nullable Pattern from,
            String to,
            boolean all) {
        private static final int OF_OWN_REALM = 0;

        Optional<String> apply(PrincipalName name, Optional<String> ownRealm) {
            if (parts == OF_OWN_REALM) {
                return name.realm().isPresent() && name.realm().equals(ownRealm)
                        ? Optional.of(name.user())
                        : Optional.empty();
            }
            if (parts != (name.host().isPresent() ? 2 : 1)) {
                return Optional.empty();
            }
            String written = written(name);
            if (pattern != null && !pattern.matcher(written).matches()) {
                return Optional.empty();
            }
            if (from == null) {
                return Optional.of(written);
            }
            Matcher found = from.matcher(written);
            return Optional.of(all ? found.replaceAll(to) : found.replaceFirst(to));
        }

        private String written(PrincipalName name) {
            List<String> values =
                    List.of(name.realm().orElse(""), name.user(), name.host().orElse(""));
            return PLACE.matcher(format)
                    .replaceAll(place -> Matcher.quoteReplacement(values.get(Integer.parseInt(place.group(1)))));
        }
    }

    /**
     * Reads rules with white space between them, or nothing.
     *
     * @throws IllegalArgumentException with the rest that is no rule, or with what is wrong in one
     */
    static PrincipalRules of(String text) {
        List<Rule> rules = new ArrayList<>();
        Matcher next = RULE.matcher(text.strip());
        int at = 0;
        String all = text.strip();
        while (at < all.length()) {
            next.region(at, all.length());
            if (!next.lookingAt()) {
                throw new IllegalArgumentException("\"" + all.substring(at)
                        + "\" does not begin with DEFAULT or with RULE:[n:format](pattern)s/from/to/g, n being 1 or 2");
            }
            rules.add(rule(next));
            for (at = next.end(); at < all.length() && Character.isWhitespace(all.charAt(at)); at++) {}
        }
        return new PrincipalRules(List.copyOf(rules));
    }

    private static Rule rule(Matcher read) {
        if (read.group("default") != null) {
            return new Rule(Rule.OF_OWN_REALM, "", null, null, "", false);
        }
        int parts = Integer.parseInt(read.group("parts"));
        String format = read.group("format");
        Matcher places = PLACE.matcher(format);
        while (places.find()) {
            if (!places.group(1).matches("[0-" + parts + "]")) {
                throw new IllegalArgumentException(
                        "\"" + read.group() + "\": " + places.group() + " is not one of $0 to $" + parts);
            }
        }
        try {
            return new Rule(
                    parts,
                    format,
                    pattern(read.group("pattern")),
                    pattern(read.group("from")),
                    to(read),
                    read.group("all") != null);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "\"" + read.group() + "\": " + e.getDescription() + " in \"" + e.getPattern() + "\"", e);
        }
    }

    private static @Nullable Pattern pattern(@Nullable String text) {
        return text == null ? null : Pattern.compile(text);
    }

    /** A replacement may name the groups of what it replaces; it is tried, so that no client is the first to try it. */
    private static String to(Matcher read) {
        String from = read.group("from");
        String to = read.group("to");
        if (from == null || to == null) {
            return "";
        }
        try {
            Matcher anything = Pattern.compile("(?:" + from + ")|").matcher("");
            if (anything.find()) {
                anything.appendReplacement(new StringBuilder(), to);
            }
            return to;
        } catch (PatternSyntaxException e) {
            throw e;
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "\"" + read.group() + "\": \"" + to + "\" cannot replace \"" + from + "\": " + e.getMessage(), e);
        }
    }

    /** Whether there is none. */
    boolean isEmpty() {
        return rules.isEmpty();
    }

    /**
     * The user that a principal is; a name without host and realm is its user, as it is.
     *
     * @throws IllegalArgumentException if no rule fits, or one gives what is no user
     */
    String userOf(PrincipalName name, Optional<String> ownRealm) {
        if (rules.isEmpty() || (name.host().isEmpty() && name.realm().isEmpty())) {
            return name.user();
        }
        for (Rule rule : rules) {
            Optional<String> user = rule.apply(name, ownRealm);
            if (user.isPresent()) {
                if (!user.get().matches("[^/@]+")) {
                    throw new IllegalArgumentException("security.auth_to_local gives " + name + " the user \""
                            + user.get() + "\", which is empty, or has / or @ in it");
                }
                return user.get();
            }
        }
        throw new IllegalArgumentException("no rule of security.auth_to_local fits " + name);
    }
}
