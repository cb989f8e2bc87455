/** What waits for one client, bounded: a client that reads too slowly gets a note about it, and the present state instead. */
export interface BusClient {
  offer(bytes: Uint8Array): void;
  /** The next bytes, as soon as there are some; undefined once it is closed. */
  next(): Promise<Uint8Array | undefined>;
  /** Nothing waits. */
  readonly idle: boolean;
  close(): void;
}

/** `catchUp`: what a client gets in place of everything that it missed. */
export function createBusClient(waitingBytesMax: number, catchUp: () => Uint8Array[]): BusClient {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let isBehind = false;
  let isClosed = false;
  let wake: (() => void) | undefined;

  function tell(): void {
    wake?.();
    wake = undefined;
  }

  return {
    offer(part) {
      if (isClosed || isBehind) return;
      if (bytes > 0 && bytes + part.length > waitingBytesMax) {
        isBehind = true;
        waiting = [];
        bytes = 0;
        return;
      }
      waiting.push(part);
      bytes += part.length;
      tell();
    },
    async next() {
      for (;;) {
        if (isClosed) return undefined;
        if (isBehind) {
          isBehind = false;
          waiting = catchUp();
          bytes = waiting.reduce((sum, part) => sum + part.length, 0);
        }
        if (waiting.length > 0) {
          const all = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting);
          waiting = [];
          bytes = 0;
          return all;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    get idle() {
      return waiting.length === 0 && !isBehind;
    },
    close() {
      isClosed = true;
      waiting = [];
      tell();
    },
  };
}
