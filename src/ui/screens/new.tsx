import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { getApp } from "../../observability/api/apps.ts";
import { applyManifests } from "../../observability/api/deploys.ts";
import { api, faultText } from "../data/api.ts";
import { follow } from "../data/operations.ts";
import { lacks } from "../data/session.ts";
import { appPath } from "../frame/paths.ts";
import { Page } from "../frame/page.tsx";
import { go, query } from "../frame/router.ts";
import { Button } from "../parts/button.tsx";
import { Note } from "../parts/notes.tsx";
import { PlanList } from "../parts/plan-list.tsx";
import { say } from "../parts/toasts.tsx";
import { fieldOf, firstManifest, manifestText, readManifests, withField } from "../text/manifest-text.ts";

const fields: readonly [string, string][] = [
  ["scope", "Scope"],
  ["name", "Name"],
  ["spec.image", "Image"],
  ["spec.host", "Host"],
  ["spec.replicas", "Replicas"],
];

type Plan = DataOf<typeof applyManifests>;

/** A manifest, its plan, and then the deploy. The form and the text are two views of one thing. */
export function Screen() {
  const of = query.value.get("of") ?? "";
  const [text, setText] = useState(of === "" ? firstManifest : "");
  const [planned, setPlanned] = useState<{ text: string; plan: Plan } | undefined>(undefined);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [message, setMessage] = useState("");
  useEffect(() => {
    const [scope = "", name = ""] = of.split("/");
    if (name !== "")
      api.call(getApp, { params: { scope, name } }).then(
        ({ manifest }) => setText(manifestText({ ...manifest, scope, name })),
        (error: unknown) => setFaults([faultText(error)]),
      );
  }, [of]);
  const send = async (dry: boolean): Promise<Plan | undefined> => {
    const read = readManifests(text);
    setFaults("fault" in read ? [read.fault] : []);
    if ("fault" in read) return undefined;
    try {
      return await api.call(applyManifests, {
        query: { dry_run: dry, message: message === "" ? undefined : message },
        body: read.manifests,
      });
    } catch (error) {
      const problems = error instanceof ApiError ? (error.data.problems ?? []) : [];
      setFaults(
        problems.length === 0 ? [faultText(error)] : problems.map(({ path, message: why }) => `${path}: ${why}`),
      );
      return undefined;
    }
  };
  const plan = async () => {
    const found = await send(true);
    setPlanned(found === undefined ? undefined : { text, plan: found });
  };
  const deploy = async () => {
    const done = await send(false);
    if (done === undefined) return;
    for (const operation of done.operations) follow({ operation });
    const [first] = done.operations;
    if (first === undefined)
      say(`Stored: ${done.applied.map(({ scope, name }) => `${scope ?? ""}/${name}`).join(", ")}`);
    else go(appPath(first.app));
  };
  const isPlanned = planned?.text === text;
  const missing = lacks("actions");
  return (
    <Page title={of === "" ? "New app" : `Change ${of}`} command="berth apply -f manifest.yaml">
      <div class="columns">
        <section class="section">
          {fields.map(([path, label]) => (
            <div key={path} class="field">
              <label for={path}>{label}</label>
              <input
                id={path}
                class="input"
                value={fieldOf(text, path)}
                autocomplete="off"
                onInput={(event) => setText(withField(text, path, event.currentTarget.value))}
              />
            </div>
          ))}
          <div class="field">
            <label for="message">Why, in a line; the list of deploys shows it</label>
            <input
              id="message"
              class="input"
              maxLength={500}
              value={message}
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </div>
          <div class="row">
            <Button
              disabled={missing !== undefined}
              title={missing}
              {...(isPlanned ? {} : { look: "main" as const })}
              onClick={() => void plan()}
            >
              Show the plan
            </Button>
            <Button
              disabled={missing !== undefined || !isPlanned}
              title={missing ?? (isPlanned ? undefined : "Look at the plan first")}
              {...(isPlanned ? { look: "main" as const } : {})}
              onClick={() => void deploy()}
            >
              Deploy
            </Button>
          </div>
          {faults.map((fault) => (
            <Note key={fault} tone="bad">
              {fault}
            </Note>
          ))}
          {planned === undefined || !isPlanned ? null : <PlanList plan={planned.plan} />}
        </section>
        <div class="field">
          <label for="manifest">Manifest, YAML or JSON; several with --- between</label>
          <textarea
            id="manifest"
            class="input tall"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
      </div>
    </Page>
  );
}
