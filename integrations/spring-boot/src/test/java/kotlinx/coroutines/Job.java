package kotlinx.coroutines;

/** Stands in for Kotlin's, which these tests do not have on their class path. */
public interface Job {}
