package io.conclave.publishing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Run by scripts/release: prints each rule that a bundle breaks, and ends with status 1 if there is one. */
public final class BundleCheck {
    private BundleCheck() {}

    /** Takes the folder of the bundle. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: BundleCheck <folder>");
            System.exit(2);
        }
        Path bundle = Path.of(arguments[0]);
        List<String> violations = BundleRules.violations(bundle);
        violations.forEach(System.err::println);
        int artifacts = Artifact.in(bundle).size();
        System.out.println(artifacts + " artifacts, " + violations.size() + " rules broken");
        System.exit(violations.isEmpty() ? 0 : 1);
    }
}
