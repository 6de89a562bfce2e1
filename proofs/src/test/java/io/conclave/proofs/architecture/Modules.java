package io.conclave.proofs.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The modules, their packages, and what each may use. A new package or arrow is written down here first.
 */
final class Modules {
    /** Packages of others that a module may use besides the JDK's and JSpecify's annotations. */
    private static final Set<String> NETTY = Set.of("io.netty", "org.slf4j");

    private static final Set<String> PLAIN = Set.of("org.slf4j", "dev.failsafe");

    private static final Set<String> INTERNAL = Set.of("protocol", "tls", "consensus", "server");

    static final List<Module> ALL = List.of(
            new Module(
                    "recipes-api",
                    List.of(
                            "error",
                            "time",
                            "metrics",
                            "node",
                            "request",
                            "session",
                            "spi",
                            "recipe",
                            "grant",
                            "coordinator",
                            "recovery",
                            "line",
                            "cache",
                            "mirror"),
                    Set.of(),
                    PLAIN),
            recipe("recipes-locks", "locks"),
            recipe("recipes-guards", "guards"),
            recipe("recipes-election", "election"),
            recipe("recipes-queues", "queues"),
            recipe("recipes-barriers", "barriers"),
            recipe("recipes-membership", "membership"),
            new Module(
                    "recipes-discovery",
                    List.of("discovery"),
                    Set.of("recipes-api", "recipes-membership", "recipes-config"), // docs/decisions/0048
                    PLAIN),
            recipe("recipes-commit", "commit"),
            recipe("recipes-config", "config"),
            new Module("protocol", List.of("protocol"), Set.of(), Set.of("io.netty.buffer", "io.netty.util")),
            new Module(
                    "tls",
                    List.of("tls"),
                    Set.of(),
                    Set.of(
                            "io.netty.buffer",
                            "io.netty.channel",
                            "io.netty.handler.ssl",
                            "io.netty.util",
                            "org.slf4j",
                            "javax.net.ssl",
                            "javax.crypto",
                            "javax.security.auth.x500")),
            new Module(
                    "client",
                    List.of("client"),
                    Set.of("recipes-api", "protocol", "tls"),
                    Set.of("io.netty", "org.slf4j", "javax.security")),
            new Module(
                    "consensus",
                    List.of(
                            "consensus.disk",
                            "consensus.entry",
                            "consensus",
                            "consensus.core",
                            "consensus.store",
                            "consensus.member",
                            "consensus.peer",
                            "consensus.ensemble"),
                    Set.of("tls"),
                    Set.of(
                            "io.netty",
                            "org.slf4j",
                            "javax.crypto",
                            "javax.net.ssl",
                            "javax.naming",
                            "javax.security.auth.x500")),
            new Module(
                    "server",
                    List.of("tree", "backup", "replica", "connection", "server.faults", "server", "embedded"),
                    Set.of("recipes-api", "protocol", "tls", "client", "consensus"),
                    Set.of("io.netty", "org.slf4j", "javax.security", "com.sun.management")),
            new Module(
                    "launcher",
                    List.of("importing", "launcher"),
                    Set.of("recipes-api", "protocol", "consensus", "server"),
                    Set.of("io.netty.buffer", "org.slf4j", "com.sun.management")),
            new Module(
                    "server-testing", List.of("ensemble"), Set.of("recipes-api", "tls", "consensus", "server"), NETTY),
            new Module(
                    "junit",
                    List.of("junit"),
                    Set.of("recipes-api", "testkit", "server-testing"),
                    Set.of("org.junit.jupiter", "org.junit.platform.commons")),
            new Module(
                    "testcontainers",
                    List.of("testcontainers"),
                    Set.of(),
                    Set.of("org.testcontainers", "org.rnorth.ducttape", "com.github.dockerjava")),
            new Module(
                    "jackson",
                    List.of("jackson"),
                    Set.of("recipes-api"),
                    Set.of("com.fasterxml.jackson", "tools.jackson")),
            new Module(
                    "kotlin",
                    List.of("kotlin"),
                    Set.of("recipes-api"),
                    Set.of("kotlin", "kotlinx.coroutines", "org.jetbrains.annotations")),
            new Module("micrometer", List.of("micrometer"), Set.of("recipes-api"), Set.of("io.micrometer")),
            new Module(
                    "spring-boot",
                    List.of("spring.boot"),
                    Set.of("recipes-api", "recipes-locks", "recipes-election", "micrometer", "testcontainers"),
                    Set.of(
                            "org.springframework",
                            "org.aopalliance",
                            "org.apache.commons.logging",
                            "org.testcontainers",
                            "io.micrometer",
                            "org.slf4j")),
            new Module(
                    "spring-integration",
                    List.of("spring.integration"),
                    Set.of("recipes-api", "recipes-locks", "recipes-election"),
                    Set.of("org.springframework", "org.slf4j")),
            new Module(
                    "spring-cloud",
                    List.of("spring.cloud"),
                    Set.of("recipes-api", "recipes-discovery"),
                    Set.of("org.springframework", "org.slf4j", "reactor.core")),
            new Module(
                    "shedlock",
                    List.of("shedlock"),
                    Set.of("recipes-api"),
                    Set.of("net.javacrumbs.shedlock", "org.slf4j")),
            new Module(
                    "testkit",
                    List.of("testkit"),
                    Set.of("recipes-api"),
                    Set.of(
                            "org.slf4j",
                            "org.junit.jupiter",
                            "org.awaitility",
                            "javax.crypto",
                            "javax.security.auth.x500")));

    /**
     * A module.
     *
     * @param packages below io.conclave, subpackages included, lowest first: none uses one that comes later
     * @param uses the modules that it may use
     * @param foreign prefixes of packages of others that it may use
     */
    record Module(String name, List<String> packages, Set<String> uses, Set<String> foreign) {
        boolean mayUse(Module other) {
            return other.name.equals(name) || uses.contains(other.name);
        }

        /** Whether applications see nothing of it but a few classes without data. */
        boolean isInternal() {
            return INTERNAL.contains(name);
        }
    }

    private static final Map<String, Module> BY_PACKAGE = byPackage();

    private Modules() {}

    private static Module recipe(String name, String onlyPackage) {
        return new Module(name, List.of(onlyPackage), Set.of("recipes-api"), PLAIN);
    }

    private static Map<String, Module> byPackage() {
        Map<String, Module> modules = new TreeMap<>();
        for (Module module : ALL) {
            module.packages().forEach(name -> modules.put(name, module));
        }
        return modules;
    }

    /** The module that a class belongs to; empty for a class of no module here. */
    static Optional<Module> of(JavaClass type) {
        return packageOf(type).map(BY_PACKAGE::get);
    }

    /** The package of a class as it stands in the table above. */
    static Optional<String> packageOf(JavaClass type) {
        String name = type.getBaseComponentType().getPackageName();
        if (!name.startsWith("io.conclave.")) {
            return Optional.empty();
        }
        String below = name.substring("io.conclave.".length());
        return BY_PACKAGE.keySet().stream()
                .filter(known -> below.equals(known) || below.startsWith(known + "."))
                .max((a, b) -> a.length() - b.length());
    }
}
