package io.conclave.discovery;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * JSON as text (RFC 8259): taken apart by one level at a time, each part left as the text that it was, so that what is
 * not understood is kept as it is. For payloads, where no library is at hand.
 *
 * <pre>{@code
 * JsonText.members("{\"zone\": \"a\", \"weight\": 3}"); // zone is "a", in quotes; weight is 3
 * }</pre>
 *
 * <p>Of members with one name the last counts. Values stand in each other 200 deep at most, so no text ends the stack.
 */
public final class JsonText {
    /** No text of others may be deeper. */
    private static final int MAX_DEPTH = 200;

    private static final int HEX = 16;
    private static final int UNICODE_DIGITS = 4;
    private static final int SHOWN = 60;

    private final String text;
    private int at;
    private int depth;

    private JsonText(String text) {
        this.text = text;
    }

    /** What is done with the parts of an object or array. */
    private interface Part {
        void found(String name, String value);
    }

    /**
     * The members of an object, each value as its text.
     *
     * @throws IllegalArgumentException if it is not one JSON object
     */
    public static Map<String, String> members(String object) {
        Map<String, String> members = new LinkedHashMap<>();
        JsonText json = new JsonText(object);
        json.skipBlanks();
        if (!json.isNext('{')) {
            throw json.wrong("an object is expected");
        }
        json.object(members::put);
        json.end();
        return members;
    }

    /**
     * The elements of an array, each as its text.
     *
     * @throws IllegalArgumentException if it is not one JSON array
     */
    public static List<String> elements(String array) {
        List<String> elements = new ArrayList<>();
        JsonText json = new JsonText(array);
        json.skipBlanks();
        if (!json.isNext('[')) {
            throw json.wrong("an array is expected");
        }
        json.array((name, value) -> elements.add(value));
        json.end();
        return elements;
    }

    /** The text that a JSON string stands for; empty if the value is no string. */
    public static Optional<String> string(String value) {
        JsonText json = new JsonText(value.strip());
        return json.isNext('"') ? Optional.of(json.string()) : Optional.empty();
    }

    /**
     * The same value without blanks around it.
     *
     * @throws IllegalArgumentException if it is not one JSON value
     */
    static String checked(String value) {
        JsonText json = new JsonText(value);
        json.skipBlanks();
        json.value();
        json.end();
        return value.strip();
    }

    /** A text as a JSON string. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isHalf = Character.isSurrogate(c) && Character.charCount(text.codePointAt(i)) == 1;
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || isHalf) {
                quoted.append(String.format("\\u%04x", (int) c)); // half of a pair has no bytes in UTF-8
            } else if (Character.isHighSurrogate(c)) {
                quoted.append(c).append(text.charAt(++i));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private void value() {
        if (isNext('{')) {
            object((name, value) -> {});
        } else if (isNext('[')) {
            array((name, value) -> {});
        } else if (isNext('"')) {
            string();
        } else if (!literal("true") && !literal("false") && !literal("null")) {
            number();
        }
    }

    private void object(Part part) {
        open();
        if (closes('}')) {
            return;
        }
        do {
            skipBlanks();
            if (!isNext('"')) {
                throw wrong("a name in quotes is expected");
            }
            String name = string();
            skipBlanks();
            if (!take(':')) {
                throw wrong("a colon is expected");
            }
            part.found(name, part());
        } while (take(','));
        close('}');
    }

    private void array(Part part) {
        open();
        if (closes(']')) {
            return;
        }
        do {
            part.found("", part());
        } while (take(','));
        close(']');
    }

    private String part() {
        skipBlanks();
        int begin = at;
        value();
        String value = text.substring(begin, at);
        skipBlanks();
        return value;
    }

    private void open() {
        at++;
        if (++depth > MAX_DEPTH) {
            throw wrong("values stand in each other more than " + MAX_DEPTH + " deep");
        }
    }

    private boolean closes(char end) {
        skipBlanks();
        if (isNext(end)) {
            close(end);
            return true;
        }
        return false;
    }

    private void close(char end) {
        if (!take(end)) {
            throw wrong("a comma or " + end + " is expected");
        }
        depth--;
    }

    private String string() {
        at++;
        StringBuilder content = new StringBuilder();
        while (!isNext('"')) {
            char c = next("a string is not closed");
            if (c < ' ') {
                throw wrong("a control character stands in a string");
            }
            content.append(c == '\\' ? escaped() : c);
        }
        at++;
        return content.toString();
    }

    private char escaped() {
        char c = next("a string is not closed");
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw wrong("\\" + c + " is no escape");
        };
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < UNICODE_DIGITS; i++) {
            int digit = Character.digit(next("a string is not closed"), HEX);
            if (digit < 0) {
                throw wrong("\\u needs four hexadecimal digits");
            }
            code = code * HEX + digit;
        }
        return (char) code;
    }

    private boolean literal(String word) {
        if (!text.startsWith(word, at)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private void number() {
        take('-');
        if (!take('0')) {
            digits();
        }
        if (take('.')) {
            digits();
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            digits();
        }
    }

    private void digits() {
        int begin = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == begin) {
            throw wrong("a value is expected");
        }
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private void end() {
        skipBlanks();
        if (at < text.length()) {
            throw wrong("something follows the value");
        }
    }

    private boolean isNext(char c) {
        return at < text.length() && text.charAt(at) == c;
    }

    private boolean take(char c) {
        if (!isNext(c)) {
            return false;
        }
        at++;
        return true;
    }

    private char next(String otherwise) {
        if (at >= text.length()) {
            throw wrong(otherwise);
        }
        return text.charAt(at++);
    }

    private IllegalArgumentException wrong(String why) {
        String shown = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
        return new IllegalArgumentException("Invalid JSON at character " + at + ": " + why + ": " + shown);
    }
}
