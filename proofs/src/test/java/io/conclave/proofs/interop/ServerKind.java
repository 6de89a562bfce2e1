package io.conclave.proofs.interop;

/** The servers that speak the protocol. */
public enum ServerKind {
    CONCLAVE {
        @Override
        public ServerUnderTest start() {
            return new StandaloneConclave();
        }
    },
    APACHE_ZOOKEEPER {
        @Override
        public ServerUnderTest start() {
            return new ApacheZooKeeper();
        }
    };

    /** Starts one on an empty directory. */
    public abstract ServerUnderTest start();
}
