package io.conclave.ensemble;

/**
 * What a server says of itself.
 *
 * @param leads whether it leads, as far as it knows
 * @param term of the leader that it knows
 * @param serves whether clients are served everything
 * @param voters how many members vote, as it knows
 * @param members how many members there are, as it knows
 */
record ServerStatus(boolean leads, long term, boolean serves, int voters, int members) {}
