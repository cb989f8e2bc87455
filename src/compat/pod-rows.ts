import { isFields } from "../base/pure/fields.ts";
import { describe } from "../orchestration/api/describe.ts";
import { getPod, listPods } from "../orchestration/api/pods.ts";
import { withData } from "./data.ts";
import type { Translation } from "./translation.ts";

const onePod = new RegExp(`^${getPod.path.replace(":name", "[^/]+")}$`);

/** That client sorts its tables by `role`. A replica has none, neither as a label nor for everybody else. */
export const podRows: Translation = {
  claims: (method, path) => method === "GET" && (path === listPods.path || path === describe.path || onePod.test(path)),
  request: (sent) => withEnvironment(sent),
  answer: (answer) =>
    withData(answer, ({ pods, pod, ...data }) => ({
      ...data,
      ...(pods === undefined ? {} : { pods: Array.isArray(pods) ? pods.map(withRole) : pods }),
      ...(pod === undefined ? {} : { pod: withRole(pod) }),
    })),
};

function withRole(row: unknown): unknown {
  if (!isFields(row) || typeof row.role === "string" || typeof row.kind !== "string" || row.kind === "") return row;
  return { ...row, role: row.kind };
}

/** It asks for one pod in the same words with and without `--show-env`, and hides the values itself. */
function withEnvironment(sent: Request): Request {
  const url = new URL(sent.url);
  if (url.pathname === describe.path) return sent;
  url.searchParams.set("env", "true");
  return new Request(url.href, { headers: sent.headers, signal: sent.signal });
}
