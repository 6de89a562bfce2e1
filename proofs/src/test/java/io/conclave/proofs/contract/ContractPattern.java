package io.conclave.proofs.contract;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

/**
 * Which tests of the contracts to run. A pattern is matched with a test's class and method, such as
 * {@code LockContractIT$Embedded#anyThreadMayRelease}: {@code *} stands for anything, what has no {@code #} means all
 * methods, and commas stand between alternatives. {@code LockContractIT*} is the lock's contract on every server,
 * {@code *$Standalone} every contract on one of them, {@code *#anyThread*} a test on all of them.
 */
final class ContractPattern implements PostDiscoveryFilter {
    private final Pattern pattern;

    ContractPattern(String pattern) {
        this.pattern = Pattern.compile(
                Arrays.stream(pattern.split(",")).map(ContractPattern::regexOf).collect(Collectors.joining("|")));
    }

    private static String regexOf(String alternative) {
        String whole = alternative.contains("#") ? alternative : alternative + "#*";
        return Arrays.stream(whole.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    }

    @Override
    public FilterResult apply(TestDescriptor descriptor) {
        return FilterResult.includedIf(nameOf(descriptor).filter(this::matches).isPresent());
    }

    boolean matches(String name) {
        return pattern.matcher(name).matches();
    }

    private static Optional<String> nameOf(TestDescriptor descriptor) {
        return descriptor
                .getSource()
                .filter(MethodSource.class::isInstance)
                .map(MethodSource.class::cast)
                .map(source -> classNameOf(source) + "#" + source.getMethodName());
    }

    /** The name without its package. */
    static String classNameOf(MethodSource source) {
        return source.getClassName().substring(source.getClassName().lastIndexOf('.') + 1);
    }
}
