import type { Clock } from "../../base/words/clock.ts";
import type { Authority } from "./authority.ts";
import type { PairTexts } from "./pem.ts";
import type { CertificateStore } from "./store.ts";

/** Our own certificate authority: made when it is first needed, kept sealed in the store. */
export interface Internal {
  /** PEM of the root certificate. */
  root(): Promise<string>;
  issue(names: readonly string[]): Promise<PairTexts>;
}

const id = "internal";

export function createInternal({
  store,
  clock,
  commonName,
}: {
  store: CertificateStore;
  clock: Clock;
  commonName: string;
}): Internal {
  let opening: Promise<Authority> | undefined;
  const open = async () => {
    const stored = store.get<Authority>("authority", id);
    if (stored !== undefined) return stored;
    const { createAuthority } = await import("./authority.ts");
    const made = await createAuthority({ commonName, now: clock.now() });
    await store.put("authority", id, made);
    return made;
  };
  const authority = () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    root: async () => (await authority()).certificate,
    async issue(names) {
      const { issueLeaf } = await import("./authority.ts");
      return issueLeaf(await authority(), { names, now: clock.now() });
    },
  };
}
