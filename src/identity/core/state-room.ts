/** States that wait: over all instances, of one instance, and of one client in it. */
interface StatesWaiting {
  all: number;
  instance: number;
  client: number;
}

/**
 * Who has too many states for one more; undefined while there is room. An instance may hold a share of what is free,
 * and a client a share of what is free to its instance: the more anybody holds, the less is left to them, and a holder that
 * holds nothing still finds room. Nothing is ever dropped to make room, so that no stranger ends another's sign-in.
 */
export function stateLimitReached(
  waiting: StatesWaiting,
  limits: { statesKept: number; statesInstanceShare: number; statesClientShare: number },
): "client" | "instance" | undefined {
  const room = limits.statesInstanceShare * (limits.statesKept - waiting.all) - waiting.instance;
  if (room <= 0) return "instance";
  return waiting.client > 0 && waiting.client >= limits.statesClientShare * room ? "client" : undefined;
}
