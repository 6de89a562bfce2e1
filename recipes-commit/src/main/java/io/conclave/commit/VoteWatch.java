package io.conclave.commit;

import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Watcher;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/**
 * Looks at one site's vote, and at its presence until it has voted; for {@link DecisionWait}, on whose dispatcher its
 * state is.
 */
final class VoteWatch {
    private final DecisionWait deciding;
    private final String site;
    private final Watcher voteWatcher = event -> readVote();
    private final Watcher presenceWatcher = event -> lookForPresence();
    private State state = State.UNKNOWN;
    private int version;
    private boolean wasPresent;
    private boolean isPresent; // when it was looked for last
    private boolean began;

    /** What is known of a vote. */
    enum State {
        /** It was not read yet. */
        UNKNOWN,
        /** There is none yet. */
        NONE,
        /** For. */
        COMMIT,
        /** Against. */
        ABORT,
        /** The site has finished, so there is a decision. */
        FINISHED
    }

    VoteWatch(DecisionWait deciding, String site) {
        this.deciding = deciding;
        this.site = site;
    }

    String site() {
        return site;
    }

    State state() {
        return state;
    }

    /** The version of the znode that holds the vote. */
    int version() {
        return version;
    }

    void begin() {
        began = true;
        readVote();
        lookForPresence();
    }

    private void readVote() {
        if (isOpen()) {
            deciding.session()
                    .send(
                            GetData.of(deciding.layout().vote(site)).withWatcher(voteWatcher),
                            this::onVote,
                            this::onNotRead);
        }
    }

    /** Whether anything is to be learned of it. */
    private boolean isOpen() {
        return !deciding.isEnded() && (state == State.UNKNOWN || state == State.NONE);
    }

    private void onVote(GetData.NodeData node) {
        state = stateOf(node.data());
        version = node.stat().version();
        deciding.evaluate();
    }

    static State stateOf(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        for (Vote vote : Vote.values()) {
            if (text.equals(vote.name().toLowerCase(Locale.ROOT))) {
                return vote == Vote.COMMIT ? State.COMMIT : State.ABORT;
            }
        }
        return State.NONE;
    }

    static byte[] bytesOf(Vote vote) {
        return vote.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
    }

    private void onNotRead(Throwable cause) {
        if (Failures.isNoNode(cause)) {
            state = State.FINISHED;
            deciding.siteHasFinished();
        } else {
            deciding.onFailure(cause, this::readVote);
        }
    }

    private void lookForPresence() {
        if (isOpen()) {
            isPresent = false; // as far as is known: the watch that is set now may be one for its coming
            deciding.session()
                    .send(
                            Exists.of(deciding.layout().presence(site)).withWatcher(presenceWatcher),
                            this::onPresence,
                            cause -> deciding.onFailure(cause, this::lookForPresence));
        }
    }

    private void onPresence(Optional<NodeStat> stat) {
        isPresent = stat.isPresent();
        if (isPresent) {
            wasPresent = true;
        } else if (wasPresent && isOpen()) {
            // It may have voted right before: what stands there now is its last word.
            deciding.session()
                    .send(GetData.of(deciding.layout().vote(site)), this::onLastWord, this::onLastWordNotRead);
        }
    }

    private void onLastWord(GetData.NodeData node) {
        if (isOpen() && stateOf(node.data()) == State.NONE) {
            deciding.siteIsGone(site);
        } else if (isOpen()) {
            onVote(node);
        }
    }

    private void onLastWordNotRead(Throwable cause) {
        if (!Failures.isNoNode(cause)) {
            deciding.onFailure(cause, this::lookForPresence);
        }
    }

    /**
     * Removes watches that would not fire when the transaction is finished.
     *
     * @param all whether the others are removed, too
     */
    void removeWatches(boolean all) {
        if (began && (all || state == State.UNKNOWN || state == State.NONE)) {
            deciding.session().unwatch(deciding.layout().vote(site), voteWatcher);
        }
        if (began && (all || !isPresent)) {
            deciding.session().unwatch(deciding.layout().presence(site), presenceWatcher);
        }
    }
}
