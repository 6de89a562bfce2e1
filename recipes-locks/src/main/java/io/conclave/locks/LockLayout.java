package io.conclave.locks;

/** How the znodes of a lock are named. All users of a lock must use one layout: contenders of another are not seen. */
public enum LockLayout {
    /**
     * That of Curator: {@code _c_<guid>-lock-<sequence>}, and {@code __READ__} and {@code __WRIT__} in a shared lock. A
     * holder is asked to release with Curator's word, so that Curator's revocable locks hear it.
     */
    CURATOR,
    /**
     * That of kazoo: {@code <guid>__lock__<sequence>}, and {@code __rlock__} for the readers of a shared lock. kazoo's
     * Lock does not see readers; its WriteLock is the counterpart of a {@link WriteLock}. It does not know revocation.
     */
    KAZOO
}
