import type { Event } from "../../../orchestration/api/events.ts";
import type { Activity } from "../../api/activity.ts";
import { mayReach, reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../tokens/grant.ts";

/** What is known of an actor beside its word. */
export type NameOf = (actor: string) => string | undefined;

export function activityOf(event: Event, nameOf: NameOf): Activity {
  const name = nameOf(event.actor);
  return { ...event, title: titleOf(event), ...(name === undefined ? {} : { actor_name: name }) };
}

/** Whether a token may see an event; what belongs to no app is for tokens that may see everything. */
export function maySeeEvent(grant: Pick<Grant, "apps">, { scope, name }: Pick<Event, "scope" | "name">): boolean {
  if (scope === undefined || scope === "") return reachesAll(grant);
  return mayReach(grant, { scope, name: name ?? "*" });
}

const titles: Record<string, (who: string, detail: Record<string, unknown>) => string> = {
  "manifest.apply": (who) => `${who} was applied`,
  "manifest.delete": (who) => `${who} was deleted`,
  "block.apply": (who) => `${who} was applied`,
  "block.delete": (who) => `${who} was deleted`,
  "config.set": (who, { keys }) => `config of ${who} was changed${listed(keys)}`,
  "config.unset": (who, { keys }) => `config of ${who} was unset${listed(keys)}`,
  "config.wipe": (who) => `config of ${who} was deleted`,
  "image.pull": (who) => `the image of ${who} was pulled`,
  "pod.exec": (who, { pod, program }) => `a command ran in ${text(pod) ?? who}: ${text(program) ?? "?"}`,
  "pod.run": (who, { program }) => `a command ran beside ${who}: ${text(program) ?? "?"}`,
  "pod.run_ended": (who) => `a command beside ${who} ended`,
  "pod.start": (who, { replica_id }) => `replica ${text(replica_id) ?? "?"} of ${who} was started`,
  "pod.stop": (who, { replica_id }) => `replica ${text(replica_id) ?? "?"} of ${who} was stopped`,
  "pod.rebootstrap": (who) => `a replica of ${who} was made again from nothing`,
  "pod.files.read": (who, { pod }) => `files of ${text(pod) ?? who} were read`,
  "pod.files.write": (who, { pod }) => `files of ${text(pod) ?? who} were written`,
  "pod.forward": (who, { pod }) => `a port of ${text(pod) ?? who} was forwarded`,
  "release.succeeded": (who) => `a release of ${who} is running`,
  "release.failed": (who, { error, reason }) => `a release of ${who} failed${because(error ?? reason)}`,
  "release.rollback": (who) => `${who} was rolled back`,
  "release.run": (who) => `a release of ${who} was run`,
  "replica.create": (who, { replica_id }) => `replica ${text(replica_id) ?? "?"} of ${who} was made`,
  "replica.remove": (who, { replica_id }) => `replica ${text(replica_id) ?? "?"} of ${who} was removed`,
  "replica.restart": (who, { replica_id, why }) =>
    `replica ${text(replica_id) ?? "?"} of ${who} was restarted${because(why)}`,
  "replica.start": (who, { replica_id, why }) =>
    `replica ${text(replica_id) ?? "?"} of ${who} was started again${because(why)}`,
  "rollout.abort": (who) => `a rollout of ${who} was aborted`,
  "rollout.halted": (who, { reason }) => `a rollout of ${who} was halted${because(reason)}`,
  "rollout.step": (who) => `the canary of ${who} went a step further`,
  restart: (who) => `${who} was restarted`,
  scale: (who, { replicas }) => `${who} was scaled${typeof replicas === "number" ? ` to ${replicas}` : ""}`,
  sleep: (who) => `${who} went to sleep`,
  wake: (who) => `${who} was woken`,
  lock: (who) => `${who} was locked`,
  unlock: (who) => `${who} was unlocked`,
  build: (who) => `an image of ${who} was built`,
  "run.start": (who) => `a run of ${who} was started`,
};

function titleOf({ action, kind, scope, name, detail = {} }: Event): string {
  const who = [scope, name].filter((part) => part !== undefined && part !== "").join("/") || kind || "the server";
  const title = titles[action];
  if (title !== undefined) return title(who, detail);
  return `${who}: ${action.replaceAll(/[._]/g, " ")}${because(detail.why ?? detail.reason ?? detail.error)}`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

const reasonMax = 200;

function because(value: unknown): string {
  const reason = text(value);
  return reason === undefined || reason === "" ? "" : `: ${reason.slice(0, reasonMax)}`;
}

const keysShown = 5;

function listed(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return "";
  const shown = value.slice(0, keysShown).map(String).join(", ");
  return `: ${shown}${value.length > keysShown ? ` and ${value.length - keysShown} more` : ""}`;
}
