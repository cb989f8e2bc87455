import type { Why } from "../../../orchestration/api/why.ts";
import type { AlertWhy } from "../../api/alerts.ts";
import { clockText, oneLine } from "./message.ts";

const changesMax = 5;
const linesMax = 20;

/** What can be a cause: what people and pipelines did, not what the server did by itself. */
const causes =
  /^(?:manifest|block|config|preview)\.|^(?:build|image\.pull|scale|restart|rebootstrap|asset\.changed|reference\.changed|preview)$|^release\.(?:run|rollback)$|^pod\.(?:stop|files\.write)$/;

/** The part of `why` that fits on a phone. */
export function briefOf(why: Why): AlertWhy {
  const changes = why.events.filter(isChange).toReversed();
  return {
    changes: changes.slice(0, changesMax).map(changeText),
    lines: lastLines(why).slice(-linesMax),
    next: nextOf(why, changes.length > 0),
  };
}

/** Whether people or pipelines did it. */
export function isChange({ action, actor }: Change): boolean {
  return causes.test(action) && !(action === "release.rollback" && actor === "reconciler");
}

type Change = Why["events"][number];

export function changeText({ at, action, actor, scope, name, detail }: Change): string {
  const place = [scope, name].filter((part) => part !== undefined && part !== "").join("/");
  const said = typeof detail?.message === "string" && detail.message !== "" ? `: ${oneLine(detail.message)}` : "";
  const keys = Array.isArray(detail?.keys) ? ` ${detail.keys.join(", ")}` : "";
  return `${clockText(at)} ${action} ${place}${keys} by ${actor}${said}`.replaceAll(/ +/g, " ");
}

/** Output of what failed: the death, the probe that fails, the release, or the run. */
function lastLines({ death, unready = [], failed_release: release, failed_run: run }: Why): string[] {
  const found = [death?.logs, unready[0]?.logs, run?.tail, release?.output];
  return found.find((lines) => lines !== undefined && lines.length > 0) ?? [];
}

function nextOf(why: Why, hasChanges: boolean): string[] {
  const app = why.scope === "" ? why.name : `${why.scope}/${why.name}`;
  const isJob = why.kind === "job" || why.kind === "cronjob";
  return [
    `berth why ${app}`,
    ...(hasChanges && why.rollback_to !== undefined ? [`berth rollback ${app}`] : []),
    ...(isJob ? [] : [`berth logs ${app}`]),
  ];
}

/** What to type about alerts that are not about an app, or whose app could not be asked. */
export function adviceOf(rule: { watch: { type: string; condition?: string } }, app: string | undefined): string[] {
  const { type, condition = "" } = rule.watch;
  if (type === "requests")
    return [...(app === undefined ? [] : [`berth logs ${app}`]), "berth ingress logs --status 5xx"];
  const known = advice[condition];
  if (known !== undefined) return [known];
  return app === undefined ? ["berth status"] : [`berth why ${app}`];
}

const advice: Readonly<Record<string, string>> = {
  engine: "berth doctor",
  disk_full: "berth doctor",
  ingress: "berth ingress",
  certificate: "berth certs",
  backup: "berth backup FILE",
  drain: "berth drains",
};
