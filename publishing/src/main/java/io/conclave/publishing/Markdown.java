package io.conclave.publishing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What one Markdown text links to, and what of it can be linked to. */
final class Markdown {
    private static final Pattern FENCE = Pattern.compile("^\\s*(`{3,}|~{3,}).*");
    private static final Pattern HEADING = Pattern.compile("^#{1,6}\\s+(.*?)\\s*#*$");
    private static final Pattern CODE = Pattern.compile("(`+)(?!`).*?(?<!`)\\1(?!`)");
    private static final Pattern LINK = Pattern.compile("\\]\\(\\s*<?([^)\\s>]+)>?(?:\\s+\"[^\"]*\")?\\s*\\)");
    private static final Pattern REFERENCE = Pattern.compile("^\\s{0,3}\\[[^\\]]+\\]:\\s+<?([^\\s>]+)>?.*");
    private static final Pattern NOT_IN_ANCHORS = Pattern.compile("[^\\p{L}\\p{M}\\p{N}\\p{Pc}\\- ]");

    private final List<String> lines;

    Markdown(String text) {
        lines = withoutFences(text);
    }

    /** A link and the line it is in, counted from 1. */
    record Link(int line, String target) {}

    /** The targets of all links and pictures outside of code, in their order. */
    List<Link> links() {
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = CODE.matcher(lines.get(i)).replaceAll("code");
            Matcher reference = REFERENCE.matcher(line);
            if (reference.matches()) {
                links.add(new Link(i + 1, reference.group(1)));
            }
            Matcher link = LINK.matcher(line);
            while (link.find()) {
                links.add(new Link(i + 1, link.group(1)));
            }
        }
        return links;
    }

    /** The anchors of the headings as GitHub makes them: a heading that comes again has a number behind. */
    Set<String> anchors() {
        Set<String> anchors = new TreeSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (String line : lines) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = anchor(heading.group(1));
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return anchors;
    }

    /** The anchor of a heading that comes once. */
    static String anchor(String heading) {
        String text = heading.replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
        return NOT_IN_ANCHORS
                .matcher(text.strip().toLowerCase(Locale.ROOT))
                .replaceAll("")
                .replace(' ', '-');
    }

    private static List<String> withoutFences(String text) {
        List<String> lines = new ArrayList<>();
        String fence = "";
        for (String line : text.split("\n", -1)) {
            Matcher marks = FENCE.matcher(line);
            if (!fence.isEmpty()) {
                String stripped = line.strip();
                if (stripped.startsWith(fence) && stripped.chars().allMatch(mark -> mark == stripped.charAt(0))) {
                    fence = "";
                }
                lines.add("");
            } else if (marks.matches()) {
                fence = marks.group(1);
                lines.add("");
            } else {
                lines.add(line);
            }
        }
        return lines;
    }
}
