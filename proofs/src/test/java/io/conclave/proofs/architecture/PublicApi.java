package io.conclave.proofs.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The public API of the modules that applications depend on, as text: one block for each public type of a package that
 * is exported to everybody, one line for each member that an application can use.
 */
final class PublicApi {
    private static final Path ROOT = Path.of("..");
    private static final List<String> INTERNAL =
            List.of("consensus", "protocol", "tls", "testkit", "proofs", "benchmarks");
    /**
     * Packages that a module exports to all and that are no API: the server's classes show types of the tree, whose
     * other users are its own programs.
     */
    private static final Set<String> INTERNAL_PACKAGES = Set.of("io.conclave.tree");

    private static final Pattern MODULE = Pattern.compile("(?m)^(?:open )?module ([\\w.]+)");
    private static final Pattern EXPORT = Pattern.compile("(?m)^\\s+exports ([\\w.]+);");

    /** Modules in integrations/, which have no descriptor: their frameworks have none either. Each is one package. */
    private static final List<String> INTEGRATIONS = List.of(
            "jackson",
            "junit",
            "kotlin",
            "micrometer",
            "shedlock",
            "spring-boot",
            "spring-cloud",
            "spring-integration",
            "testcontainers");

    private PublicApi() {}

    /** The text of each module by its name. */
    static SortedMap<String, String> read() {
        SortedMap<String, String> modules = new TreeMap<>();
        for (Path descriptor : descriptors()) {
            String text = read(descriptor);
            Matcher name = MODULE.matcher(text);
            if (name.find()) {
                modules.put(name.group(1), module(descriptor, text));
            }
        }
        for (String integration : INTEGRATIONS) {
            String name = "io.conclave." + integration.replace('-', '.');
            StringBuilder api = new StringBuilder();
            integration(integration, name).forEach(type -> append(api, type));
            modules.put(name, api.toString());
        }
        return modules;
    }

    private static List<Path> descriptors() {
        try (Stream<Path> files = Files.walk(ROOT, 7)) {
            return files.filter(file -> file.endsWith(Path.of("src", "main", "java", "module-info.java")))
                    .filter(file -> INTERNAL.stream().noneMatch(name -> file.getParent()
                            .getParent()
                            .getParent()
                            .getParent()
                            .endsWith(name)))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String module(Path descriptor, String text) {
        StringBuilder api = new StringBuilder();
        Matcher exports = EXPORT.matcher(text);
        Set<String> packages = new TreeSet<>();
        while (exports.find()) {
            packages.add(exports.group(1));
        }
        packages.removeAll(INTERNAL_PACKAGES);
        for (String name : packages) {
            topLevel(descriptor.getParent().resolve(name.replace('.', '/')), name)
                    .forEach(type -> append(api, type));
        }
        return api.toString();
    }

    private static List<Class<?>> integration(String module, String packageName) {
        Path sources = ROOT.resolve("integrations/" + module + "/src/main/java");
        return Files.isDirectory(sources)
                ? topLevel(sources.resolve(packageName.replace('.', '/')), packageName)
                : compiled(packageName);
    }

    /**
     * The classes of a package of Kotlin: a file may have several, and one of its own, called after it, for the
     * functions that are in no class.
     */
    private static List<Class<?>> compiled(String packageName) {
        String folder = packageName.replace('.', '/');
        URL found = PublicApi.class.getClassLoader().getResource(folder);
        if (found == null) {
            throw new IllegalStateException("the module of " + packageName + " is no test dependency of the proofs");
        }
        try {
            if (!found.getProtocol().equals("jar")) {
                return compiled(Path.of(found.toURI()), packageName);
            }
            JarURLConnection jar = (JarURLConnection) found.openConnection();
            try (FileSystem files =
                    FileSystems.newFileSystem(Path.of(jar.getJarFileURL().toURI()))) {
                return compiled(files.getPath(folder), packageName);
            }
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException(packageName, e);
        }
    }

    private static List<Class<?>> compiled(Path folder, String packageName) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return load(files, packageName, ".class");
        }
    }

    private static List<Class<?>> topLevel(Path sources, String packageName) {
        try (Stream<Path> files = Files.list(sources)) {
            return load(files, packageName, ".java");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The classes that files of an ending are called after; none of a descriptor. */
    private static List<Class<?>> load(Stream<Path> files, String packageName, String ending) {
        return files.map(file -> file.getFileName().toString())
                .filter(file -> file.endsWith(ending) && file.indexOf('-') < 0 && file.indexOf('$') < 0)
                .map(file -> packageName + "." + file.substring(0, file.length() - ending.length()))
                .sorted()
                .<Class<?>>map(PublicApi::load)
                .toList();
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void append(StringBuilder api, Class<?> type) {
        if (!isVisible(type.getModifiers())) {
            return;
        }
        api.append(
                type.toGenericString().replace("non-sealed ", "").replace("sealed ", "")); // not in all Java versions
        Stream<String> supertypes = Stream.concat(
                        Stream.ofNullable(type.getGenericSuperclass()), Arrays.stream(type.getGenericInterfaces()))
                .map(above -> above.getTypeName())
                .filter(above -> !above.equals("java.lang.Object"));
        String above = supertypes.collect(Collectors.joining(", "));
        api.append(above.isEmpty() ? "" : " : " + above).append('\n');
        members(type).forEach(line -> api.append("    ").append(line).append('\n'));
        Arrays.stream(type.getDeclaredClasses())
                .sorted(Comparator.comparing(Class::getName))
                .forEach(nested -> append(api, nested));
    }

    private static List<String> members(Class<?> type) {
        List<String> lines = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            add(lines, field, field.toGenericString());
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            add(lines, constructor, constructor.toGenericString());
        }
        // What is inherited of a class that is not public can be called as the type's own.
        Class<?> above = type;
        do {
            for (Method method : above.getDeclaredMethods()) {
                add(lines, method, method.toGenericString());
            }
            above = above.getSuperclass();
        } while (above != null && !isVisible(above.getModifiers()));
        return lines.stream().distinct().sorted().toList();
    }

    private static void add(List<String> lines, Member member, String text) {
        if (isVisible(member.getModifiers()) && !member.isSynthetic()) {
            String owner = member.getDeclaringClass().getTypeName() + ".";
            lines.add(text.replace(owner, "").replace("java.lang.", "").replace("synchronized ", ""));
        }
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }
}
