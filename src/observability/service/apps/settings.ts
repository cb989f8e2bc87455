import { Failure } from "../../../base/wire/failure.ts";
import { getConfig } from "../../../orchestration/api/config.ts";
import type { ConfigKey } from "../../api/settings.ts";
import { requireBucket } from "../../../access/apps.ts";
import type { Principal } from "../../../access/principal.ts";
import type { AuditTrail } from "../audit.ts";
import type { Platform } from "../platform.ts";

/** A bucket: of a scope, or of an app in it. */
export interface Bucket {
  scope: string;
  name?: string | undefined;
}

/** Config of apps: names and lengths for those who look, values for those who may see them. */
export interface Settings {
  keys(who: { by: Principal }, bucket: Bucket): Promise<{ scope: string; name?: string; keys: ConfigKey[] }>;
  /** What is shown is on record with the names of the keys before it is answered. Fails `not_found` for a key that is not set. */
  reveal(
    who: { by: Principal; actor: string; ip: string; requestId: string },
    bucket: Bucket,
    keys: readonly string[],
  ): Promise<Record<string, string>>;
}

const reader = "observability";

export function createSettings({ platform, audit }: { platform: Platform; audit: AuditTrail }): Settings {
  const client = platform.as(reader);

  async function bucketOf({ scope, name }: Bucket): Promise<Record<string, string>> {
    const query = name === undefined ? { scope } : { scope, name, merge: false };
    const { vars } = await client.call(getConfig, { query });
    return (vars ?? {}) as Record<string, string>;
  }

  return {
    async keys({ by }, bucket) {
      requireBucket(by, bucket);
      const { scope, name } = bucket;
      const ofScope = await bucketOf({ scope });
      if (name === undefined) return { scope, keys: rows(ofScope, "scope") };
      const ofApp = await bucketOf(bucket);
      const left = Object.entries(ofScope).filter(([key]) => !Object.hasOwn(ofApp, key));
      const own = rows(ofApp, "app").map((row) =>
        Object.hasOwn(ofScope, row.key) ? { ...row, overrides: true } : row,
      );
      const keys = [...own, ...rows(Object.fromEntries(left), "scope")].sort((a, b) => (a.key < b.key ? -1 : 1));
      return { scope, name, keys };
    },
    async reveal(who, bucket, keys) {
      requireBucket(who.by, bucket);
      const ofScope = bucket.name === undefined ? {} : await bucketOf({ scope: bucket.scope });
      const vars = { ...ofScope, ...(await bucketOf(bucket)) };
      const missing = keys.find((key) => !Object.hasOwn(vars, key));
      if (missing !== undefined) throw new Failure("not_found", `key "${missing}" is not set`);
      await audit.record({
        actor: who.actor,
        ip: who.ip,
        action: "config.reveal",
        target: [bucket.scope, bucket.name].filter((part) => part !== undefined).join("/"),
        params: { keys: keys.join(",").slice(0, keysOnRecord) },
        outcome: "ok",
        durationMs: 0,
        requestId: who.requestId,
      });
      return Object.fromEntries(keys.map((key) => [key, vars[key] ?? ""]));
    },
  };
}

const keysOnRecord = 2_000;

function rows(vars: Record<string, string>, origin: "scope" | "app"): ConfigKey[] {
  return Object.entries(vars)
    .map(([key, value]) => ({ key, length: value.length, origin }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
