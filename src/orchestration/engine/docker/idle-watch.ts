/** Aborts its signal when nothing was heard for `idleMs`, or when `closed` does. */
export function createIdleWatch(idleMs: number, closed: AbortSignal) {
  const controller = new AbortController();
  const abort = () => {
    clearTimeout(timer);
    controller.abort();
  };
  let idle = false;
  const expire = () => {
    idle = true;
    abort();
  };
  let timer = setTimeout(expire, idleMs);
  closed.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    idle: () => idle,
    progress: () => {
      clearTimeout(timer);
      if (!controller.signal.aborted) timer = setTimeout(expire, idleMs);
    },
    /** Until the next progress, silence does not count. */
    pause: () => clearTimeout(timer),
    end: () => {
      closed.removeEventListener("abort", abort);
      abort();
    },
  };
}
