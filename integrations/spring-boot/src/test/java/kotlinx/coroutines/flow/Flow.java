package kotlinx.coroutines.flow;

/** Stands in for Kotlin's, which these tests do not have on their class path. */
public interface Flow<T> {}
