/** Bounds of what unknown names can cause. */
export interface AskingLimits {
  /** Questions in one minute, all clients together. */
  perMinute: number;
  /** Questions in one minute that one client causes: an IPv4 address, or a /64 network of IPv6. */
  perClientPerMinute: number;
  /** Clients that are counted in one minute; questions of more are not asked. */
  clientsMax: number;
  /** How long a name that was refused is not asked about again. */
  refusedMs: number;
  /** Like `refusedMs`, after a question that was not answered. */
  failedMs: number;
  /** Refused names that are kept; beyond it, the oldest goes. */
  refusedMax: number;
}

/** Which names are asked about, and which were refused lately. Its memory is bounded whatever clients send. */
interface Asking {
  /** Whether the name was refused lately. */
  isRefused(name: string, now: number): boolean;
  /** Takes one question from the allowance; false when it is used up. */
  take(client: string, now: number): boolean;
  refused(name: string, now: number): void;
  /** The question was not answered. */
  failed(name: string, now: number): void;
  /** Names and clients in memory. */
  size(): { names: number; clients: number };
}

const minuteMs = 60_000;

export function createAsking(limits: AskingLimits): Asking {
  const refusedUntil = new Map<string, number>();
  const clients = new Map<string, number>();
  let minute = Number.NaN;
  let count = 0;

  function keep(name: string, until: number): void {
    refusedUntil.delete(name);
    if (refusedUntil.size >= limits.refusedMax) {
      const oldest = refusedUntil.keys().next();
      if (oldest.done !== true) refusedUntil.delete(oldest.value);
    }
    refusedUntil.set(name, until);
  }

  function beginMinute(now: number): void {
    const current = Math.floor(now / minuteMs);
    if (current === minute) return;
    minute = current;
    count = 0;
    clients.clear();
  }

  return {
    isRefused(name, now) {
      const until = refusedUntil.get(name);
      if (until === undefined) return false;
      if (until > now) return true;
      refusedUntil.delete(name);
      return false;
    },
    take(client, now) {
      beginMinute(now);
      const key = clientKey(client);
      const asked = clients.get(key) ?? 0;
      const isFull = asked === 0 && clients.size >= limits.clientsMax;
      if (isFull || count >= limits.perMinute || asked >= limits.perClientPerMinute) return false;
      clients.set(key, asked + 1);
      count += 1;
      return true;
    },
    refused: (name, now) => keep(name, now + limits.refusedMs),
    failed: (name, now) => keep(name, now + limits.failedMs),
    size: () => ({ names: refusedUntil.size, clients: clients.size }),
  };
}

/** One household or server has a /64 network of IPv6, and so as many addresses as it likes. */
function clientKey(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail === undefined ? [] : tail.split(":").filter((group) => group !== "");
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}
