import type { RestartPolicy } from "./workload.ts";

/** `no`, `always`, `unless-stopped`, `on-failure` or `on-failure:3`; undefined for anything else. */
export function parseRestartPolicy(text: string): RestartPolicy | undefined {
  const match = /^(no|always|unless-stopped|on-failure)(?::(\d{1,6}))?$/.exec(text);
  const name = match?.[1];
  const count = match?.[2];
  if (name === "on-failure") return { name, maximumRetryCount: Number(count ?? 0) };
  if (count !== undefined) return undefined;
  if (name === "no" || name === "always" || name === "unless-stopped") return { name, maximumRetryCount: 0 };
  return undefined;
}
