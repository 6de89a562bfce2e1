package io.conclave.line;

import io.conclave.error.ClosedException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What follows a contender's creation that was not answered, or was refused.
 *
 * <p>Not answered: it took effect before the first answer on the next connection, or never will. So the line is listed
 * behind a sync, and the guid in the name tells which znode is ours; if there is none, it is created again. Refused for
 * want of a line: the line is made. Refused for another reason: the contender fails.
 *
 * <p>All of it is for the dispatcher.
 */
final class CreationFailure {
    private static final Logger LOG = LoggerFactory.getLogger(CreationFailure.class);

    private final Contender contender;
    private final Waiter waiter;
    private final NodePath line;

    CreationFailure(Contender contender, Waiter waiter) {
        this.contender = contender;
        this.waiter = waiter;
        this.line = contender.line();
    }

    void recover(Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            if (contender.isInLine()) {
                findOut();
            } else {
                contender.deletion().search();
            }
        } else if (Failures.isNoNode(cause) && contender.isInLine()) {
            contender.role().makeLine(contender.session(), line).whenComplete((done, failure) -> onParents(failure));
        } else {
            failWithoutZnode(cause);
        }
    }

    private void onParents(@Nullable Throwable failure) {
        if (failure == null && contender.isInLine()) {
            waiter.create();
        } else {
            failWithoutZnode(failure == null ? new ClosedException("Abandoned") : Waiting.cause(failure));
        }
    }

    /** There is nothing to delete. */
    private void failWithoutZnode(Throwable cause) {
        contender.end(LossReason.REFUSED, contender.known(cause));
    }

    /** The names in the line tell whether the creation took effect. */
    private void findOut() {
        contender.measurements().recovering();
        contender.readLatest(line, GetChildren.of(line), children -> onListed(children.names()), this::onNotFoundOut);
    }

    private void onNotFoundOut(Throwable cause) {
        if (Failures.isNoNode(cause) && contender.isInLine()) {
            waiter.create();
        } else {
            contender.fail(cause);
        }
    }

    private void onListed(List<String> names) {
        if (!contender.isInLine()) {
            return; // its deletion searches for itself
        }
        contender.placeAmong(names).ifPresentOrElse(this::readFound, waiter::create);
    }

    private void readFound(NodePath path) {
        LOG.debug("{}: found again after a lost reply: {}", contender, path);
        contender.send(GetData.of(path), node -> onFound(path, node), cause -> {
            if (cause instanceof OutcomeUnknownException && contender.isInLine()) {
                findOut();
            } else {
                contender.ownNode().onReadFailed(cause);
            }
        });
    }

    private void onFound(NodePath path, GetData.NodeData node) {
        if (contender.isInLine()) {
            contender.take(path, node.stat());
            waiter.look();
        }
    }
}
