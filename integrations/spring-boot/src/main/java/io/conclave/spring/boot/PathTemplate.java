package io.conclave.spring.boot;

import io.conclave.node.NodePath;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * A path with expressions over a method's parameters. The value of an expression is data: it never adds a level to the
 * path, and no two values of it give the same path.
 */
final class PathTemplate {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final DefaultParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final String text;
    private final List<Expression> parts;

    private PathTemplate(String text, List<Expression> parts) {
        this.text = text;
        this.parts = parts;
    }

    /**
     * Parses a template.
     *
     * @throws IllegalArgumentException if an expression breaks a rule, or the path does whatever values they have
     */
    static PathTemplate parse(String text) {
        Expression parsed;
        try {
            parsed = PARSER.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("Invalid path \"" + text + "\": " + e.getMessage(), e);
        }
        List<Expression> parts = parsed instanceof CompositeStringExpression several
                ? Arrays.asList(several.getExpressions())
                : List.of(parsed);
        String example = parts.stream().map(PathTemplate::exampleOf).collect(Collectors.joining());
        try {
            if (NodePath.of(example).isRoot()) {
                throw new IllegalArgumentException("Invalid lock path \"/\": a lock needs a znode of its own");
            }
        } catch (IllegalArgumentException e) {
            boolean isPlain = parts.stream().allMatch(LiteralExpression.class::isInstance);
            throw isPlain ? e : new IllegalArgumentException("Invalid path \"" + text + "\": " + e.getMessage(), e);
        }
        return new PathTemplate(text, parts);
    }

    /** A value of an expression is part of a name, whatever it is. */
    private static String exampleOf(Expression part) {
        return part instanceof LiteralExpression literal ? literal.getValue() : "x";
    }

    /**
     * The path for a call.
     *
     * @throws IllegalArgumentException if an expression has no value, or the path breaks a rule
     */
    NodePath evaluate(@Nullable Object target, Method method, @Nullable Object[] arguments) {
        EvaluationContext context = new MethodBasedEvaluationContext(target, method, arguments, NAMES);
        StringBuilder path = new StringBuilder();
        for (Expression part : parts) {
            if (part instanceof LiteralExpression literal) {
                path.append(literal.getValue());
            } else {
                path.append(encoded(part, part.getValue(context)));
            }
        }
        return NodePath.of(path.toString());
    }

    private String encoded(Expression part, @Nullable Object value) {
        String name = value == null ? "" : value.toString();
        if (name.isEmpty()) {
            throw new IllegalArgumentException("Invalid path \"" + text + "\": #{" + part.getExpressionString()
                    + "} is " + (value == null ? "null" : "empty")
                    + ". Names of parameters are known if the class was compiled with -parameters; else write #p0");
        }
        StringBuilder encoded = new StringBuilder();
        name.codePoints().forEach(point -> append(encoded, point));
        return encoded.toString();
    }

    /** Letters and digits stay; so do signs that neither a path nor this code gives a meaning. */
    private static void append(StringBuilder encoded, int point) {
        boolean isPlain = Character.isBmpCodePoint(point) && Character.isLetterOrDigit(point);
        boolean isDotWithin = point == '.' && encoded.length() > 0; // a component that is "." or ".." is none
        if (isPlain || isDotWithin || "-_:@+=,".indexOf(point) >= 0) {
            encoded.appendCodePoint(point);
        } else if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
            encoded.append(String.format("%%u%04X", point)); // half of a pair has no bytes
        } else {
            for (byte one : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
                encoded.append(String.format("%%%02X", one));
            }
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
