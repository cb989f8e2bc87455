import type { AppDetail } from "../../../observability/api/apps.ts";
import { deleteApp, diffReleases, listAppReleases, type ShownRelease } from "../../../observability/api/deploys.ts";
import {
  abortApp,
  pauseApp,
  promoteApp,
  restartApp,
  resumeApp,
  rollbackApp,
  scaleApp,
  startApp,
  stopApp,
} from "../../../observability/api/operations.ts";
import { api } from "../../data/api.ts";
import { say } from "../../data/notices.ts";
import { go } from "../../browser/router.ts";
import { follow } from "../../data/operations.ts";
import { ask, type Effect } from "../../parts/dialog.tsx";
import { many } from "../../text/figures.ts";
import { changeText } from "../../text/changes.ts";
import { byText, causeText } from "../../text/states.ts";
import { exactText } from "../../text/times.ts";

const target = ({ kind, scope, name }: AppDetail) => ({ params: { scope, name }, query: { kind } });
const named = ({ scope, name }: AppDetail) => `${scope}/${name}`;

/** What visitors notice while the replicas are replaced. */
function serving(app: AppDetail): Effect {
  const { rollout } = app.manifest.spec as { rollout?: { strategy?: string } };
  if (app.ready === 0) return { text: "No replica is ready now, so no request is answered until one is" };
  if (app.kind === "statefulset")
    return { text: "One replica at a time is away; with one replica its clients wait for it", ends: app.desired < 2 };
  if (rollout?.strategy === "recreate")
    return { text: "All replicas stop before new ones start: requests fail in between", ends: true };
  return { text: "A new replica is ready before an old one stops, so requests go on" };
}

export function askRestart(app: AppDetail): void {
  ask({
    title: `Restart ${named(app)}`,
    verb: "Restart",
    command: `berth restart ${named(app)}`,
    effects: [
      {
        text: `${many(app.desired, "replica")} of the same release ${app.desired === 1 ? "is" : "are"} replaced, one after the other`,
      },
      serving(app),
      ...(app.frozen_ids.length === 0
        ? []
        : [{ text: `${many(app.frozen_ids.length, "replica")} that somebody stopped will start again` }]),
    ],
    run: async () => follow(await api.call(restartApp, target(app))),
  });
}

export function askStop(app: AppDetail): void {
  const hosts = app.hosts.map(({ host }) => host);
  ask({
    title: `Stop ${named(app)}`,
    verb: "Stop",
    danger: true,
    command: `berth stop ${named(app)}`,
    effects: [
      { text: `${many(app.ready, "replica")} that ${app.ready === 1 ? "serves" : "serve"} now will end`, ends: true },
      ...hosts.map((host) => ({ text: `${host} answers 503`, ends: true })),
      { text: "Nothing starts it again before somebody presses Start; its data stays" },
    ],
    run: async () => follow(await api.call(stopApp, target(app))),
  });
}

export function askStart(app: AppDetail): void {
  ask({
    title: `Start ${named(app)}`,
    verb: "Start",
    command: `berth start ${named(app)}`,
    effects: [{ text: `${many(app.desired, "replica")} of ${app.image} will run` }],
    run: async () => follow(await api.call(startApp, target(app))),
  });
}

export function askScale(app: AppDetail, replicas: number): void {
  const fewer = app.desired - replicas;
  ask({
    title: `Run ${many(replicas, "replica")} of ${named(app)}`,
    verb: "Scale",
    danger: replicas === 0,
    command: `berth scale ${named(app)}=${replicas}`,
    effects: [
      fewer > 0
        ? { text: `${many(fewer, "replica")} of ${app.desired} will end, after the requests under way`, ends: true }
        : { text: `${many(-fewer, "replica")} more will start` },
      ...(replicas === 0 ? [{ text: "No request is answered any more", ends: true }] : []),
      { text: "The manifest is changed; this makes no release" },
    ],
    run: async () => {
      const { params, query } = target(app);
      follow(await api.call(scaleApp, { params, query: { ...query, replicas } }));
    },
  });
}

/** Deletes the app with the ingress in front of it, when its name was typed. */
export function askDelete(app: AppDetail): void {
  let prune = false;
  const name = named(app);
  const kind = app.kind === "deployment" ? "app" : app.kind;
  ask({
    title: `Delete ${name}`,
    verb: "Delete",
    danger: true,
    type: name,
    command: `berth delete ${name}`,
    effects: [
      { text: `${many(app.desired, "replica")} of ${app.image} will end`, ends: true },
      ...app.hosts.map(({ host }) => ({ text: `${host} leads nowhere any more`, ends: true })),
      { text: "The manifest stays in the history, so the app can be brought back" },
    ],
    body: () => <Wipe volumes={app.volumes} onChange={(wipe) => (prune = wipe)} />,
    run: async () => {
      const { scope } = app;
      const { warnings } = await api.call(deleteApp, {
        params: { kind, scope, name: app.name },
        query: { confirm: name, prune },
      });
      say([`${name} is being deleted`, ...warnings].join("; "), "work");
      go("/");
    },
  });
}

function Wipe({ volumes, onChange }: { volumes: readonly string[]; onChange: (wipe: boolean) => void }) {
  const data = volumes.length === 0 ? "its config and files" : `its config, files and volumes: ${volumes.join(", ")}`;
  return (
    <label class="row flat">
      <input type="checkbox" onChange={(event) => onChange(event.currentTarget.checked)} />
      {`Also wipe ${data}, for good. Without it they stay.`}
    </label>
  );
}

/** What is done with the steps of a canary. */
const canarySteps = {
  Pause: [pauseApp, "pause", "The share of requests stays as it is until somebody resumes"],
  Resume: [resumeApp, "resume", "The rollout goes on with its next step"],
  Promote: [promoteApp, "promote", "All requests go to the new release, and the steps that are left are skipped"],
  Abort: [abortApp, "abort", "All requests go back to the old release, and the new replicas end"],
} as const;

export function askCanary(app: AppDetail, verb: keyof typeof canarySteps): void {
  const [endpoint, word, effect] = canarySteps[verb];
  ask({
    title: `${verb} the canary of ${named(app)}`,
    verb,
    danger: verb === "Abort",
    command: `berth rollout ${word} ${named(app)}`,
    effects: [{ text: effect, ends: verb === "Abort" }],
    run: async () => follow(await api.call(endpoint, target(app))),
  });
}

/** Which release this is, for people who do not know its id. */
function releaseText(release: ShownRelease): string {
  const { id, message, cause, started_at: from } = release;
  return `${id} is of ${exactText(Date.parse(from))}: ${message ?? causeText(cause)} by ${byText(release)}`;
}

/** Asks the server first what would change, so that the dialog can tell. */
export async function askRollback(app: AppDetail, to: string): Promise<void> {
  const { params, query } = target(app);
  const [{ changes }, { releases }] = await Promise.all([
    api.call(diffReleases, { params, query: { ...query, from: app.release?.id, to } }),
    api.call(listAppReleases, { params, query }),
  ]);
  const goal = releases.find(({ id }) => id === to);
  ask({
    title: `Roll ${named(app)} back to ${to}`,
    verb: "Roll back",
    command: `berth rollback ${named(app)} --to ${to}`,
    effects: [
      ...(goal === undefined ? [] : [{ text: releaseText(goal) }]),
      ...changes.map((change) => ({ text: changeText(change) })),
      ...(changes.length === 0 ? [{ text: "The specs are the same: only the image may be another one" }] : []),
      { text: "Replicas that do not have its spec are replaced, one after the other; the others stay" },
      serving(app),
      { text: "Config and data stay as they are now" },
    ],
    run: async () => follow(await api.call(rollbackApp, { params, query: { ...query, release_id: to } })),
  });
}
