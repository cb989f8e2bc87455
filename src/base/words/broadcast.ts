/** In-process publish and subscribe. A listener that throws is a bug of its own and never stops the others. */
export interface Broadcast<T> {
  publish(value: T): void;
  /** Returns the way to leave. */
  subscribe(listener: (value: T) => void): () => void;
}

export function createBroadcast<T>(onListenerError: (error: unknown) => void): Broadcast<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    publish(value) {
      for (const listener of listeners) {
        try {
          listener(value);
        } catch (error) {
          onListenerError(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
