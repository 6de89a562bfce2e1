package io.conclave.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The results of a multi. The reply's header has no error even if the multi failed: the results say so.
 *
 * @param results one result an operation, in order
 */
public record MultiReply(List<MultiResult> results) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        for (MultiResult result : results) {
            result.encode(out);
        }
        MultiHeader.END.encode(out);
    }

    static MultiReply decode(JuteReader in) {
        List<MultiResult> results = new ArrayList<>();
        for (MultiHeader header = MultiHeader.decode(in); !header.done(); header = MultiHeader.decode(in)) {
            results.add(MultiResult.decode(header, in));
        }
        return new MultiReply(Collections.unmodifiableList(results));
    }
}
