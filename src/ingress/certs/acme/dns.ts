import type { Clock } from "../../../base/words/clock.ts";
import { Failure } from "../../../base/wire/failure.ts";

/** How TXT records of one domain are set: by a command of a plugin. */
export interface DnsAnswers {
  set(record: TxtRecord): Promise<void>;
  clear(record: TxtRecord): Promise<void>;
  /** Texts of a name as the world sees them; empty where there are none. */
  look(name: string): Promise<string[]>;
  /** How long a record may take until it is seen. */
  seenMs: number;
}

interface TxtRecord {
  /** `_acme-challenge.example.com` */
  name: string;
  text: string;
}

const lookEveryMs = 5_000;

/** Sets a TXT record and waits until it is seen; returns how to take it away again. */
export async function setDnsRecord(
  dns: DnsAnswers,
  { name, text, clock, signal }: TxtRecord & { clock: Clock; signal: AbortSignal },
): Promise<() => Promise<void>> {
  const clear = () => dns.clear({ name, text });
  await dns.set({ name, text });
  try {
    for (let waitedMs = 0; !signal.aborted; waitedMs += lookEveryMs) {
      if ((await dns.look(name)).includes(text)) return clear;
      if (waitedMs >= dns.seenMs) break;
      await clock.sleep(lookEveryMs, signal);
    }
  } catch (error) {
    await clear();
    throw error;
  }
  await clear();
  if (signal.aborted) throw new Failure("timeout", "the server is stopping");
  const within = `${dns.seenMs / 1_000} s`;
  throw new Failure(
    "unprocessable",
    `dns: TXT record ${name} is not seen within ${within} after the plugin has set it`,
  );
}
