package io.conclave.publishing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** A POM as it stands in its file; what it inherits is asked of its parent. */
final class Pom {
    private final Element project;

    private Pom(Element project) {
        this.project = project;
    }

    static Pom read(Path file) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return new Pom(factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file + " is no XML: " + e.getMessage(), e);
        }
    }

    /** The text at a path of elements such as {@code scm/url}, with properties of this POM put in. */
    Optional<String> text(String path) {
        return elements(project, path).stream().findFirst().map(this::textOf);
    }

    /** The dependencies at a path of elements. */
    List<Dependency> dependencies(String path) {
        return elements(project, path).stream()
                .map(one -> new Dependency(
                        child(one, "groupId"), child(one, "artifactId"), child(one, "version"), child(one, "scope")))
                .toList();
    }

    /**
     * A dependency; what the POM does not say is empty.
     *
     * @param group its group
     * @param artifact its id
     * @param version its version, often managed elsewhere
     * @param scope its scope, empty for compile
     */
    record Dependency(String group, String artifact, String version, String scope) {}

    private String child(Element element, String name) {
        return elements(element, name).stream().findFirst().map(this::textOf).orElse("");
    }

    private String textOf(Element element) {
        String text = element.getTextContent().strip();
        for (Element property : elements(project, "properties/*")) {
            text = text.replace(
                    "${" + property.getTagName() + "}",
                    property.getTextContent().strip());
        }
        return text;
    }

    private static List<Element> elements(Element from, String path) {
        List<Element> found = List.of(from);
        for (String name : path.split("/")) {
            List<Element> below = new ArrayList<>();
            for (Element one : found) {
                for (Node node = one.getFirstChild(); node != null; node = node.getNextSibling()) {
                    if (node instanceof Element element && (name.equals("*") || name.equals(element.getTagName()))) {
                        below.add(element);
                    }
                }
            }
            found = below;
        }
        return found;
    }
}
