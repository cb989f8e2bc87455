type Handler = (request: Request) => Response | Promise<Response>;

interface HeldOptions {
  /** How long a request waits for the handler. */
  waitMs: number;
  /** The answer to a request that has waited in vain. */
  late(): Response;
  /** There will be no handler. */
  onFailure(error: unknown): void;
}

/** A handler for a listener that opens before there is one: requests wait for it, instead of being refused. */
export function heldUntil(coming: Promise<Handler>, { waitMs, late, onFailure }: HeldOptions): Handler {
  let handler: Handler | undefined;
  coming.then((it) => {
    handler = it;
  }, onFailure);
  const wait = async (request: Request): Promise<Response> => {
    let timer: Timer | undefined;
    const tired = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), waitMs);
      // A start that fails closes the listener, and the process ends.
      timer.unref();
    });
    const found = await Promise.race([coming.catch(() => undefined), tired]);
    clearTimeout(timer);
    return found === undefined ? late() : found(request);
  };
  return (request) => (handler === undefined ? wait(request) : handler(request));
}
