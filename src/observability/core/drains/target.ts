import type { Problem } from "../../../base/wire/failure.ts";
import type { DrainBody, DrainTarget } from "../../api/log-drains.ts";
import { levels } from "../logs/line.ts";
import { globFault } from "../tokens/grant.ts";

/** Where a drain leads to, without its secrets: the path of an address may be a password. */
export function drainText(target: DrainTarget): string {
  switch (target.type) {
    case "http":
      return hostOf(target.url);
    case "syslog":
      return `${target.host}:${target.port}${target.tls === false ? "" : " (TLS)"}`;
    case "s3":
      return `${target.bucket}/${target.prefix ?? ""}${target.endpoint === undefined ? "" : ` at ${hostOf(target.endpoint)}`}`;
  }
}

/** What the schema cannot say. */
export function drainProblems(name: string, { target, apps = [], level }: DrainBody): Problem[] {
  const problems: Problem[] = [];
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    problems.push({
      path: "",
      message: `drain name "${name}" is not valid; use 1 to 63 lowercase letters, digits and dashes`,
    });
  for (const [at, glob] of apps.entries()) {
    const fault = globFault(glob);
    if (fault !== undefined) problems.push({ path: `apps[${at}]`, message: `"${glob}" ${fault}` });
  }
  if (level !== undefined && !levels.some((known) => known === level))
    problems.push({ path: "level", message: `unknown level "${level}"; use ${levels.join(", ")}` });
  const url = target.type === "http" ? target.url : target.type === "s3" ? target.endpoint : undefined;
  if (url !== undefined && hostOf(url) === "")
    problems.push({
      path: target.type === "s3" ? "target.endpoint" : "target.url",
      message: "is not an address of the form https://HOST/PATH",
    });
  return problems;
}

function hostOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.host : "";
}
