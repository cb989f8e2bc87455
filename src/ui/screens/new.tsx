import { useEffect, useState } from "preact/hooks";
import { getApp } from "../../observability/api/apps.ts";
import type { Operation } from "../../observability/api/operations.ts";
import { api, faultText } from "../data/api.ts";
import { follow } from "../data/operations.ts";
import { lacks } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../frame/paths.ts";
import { go, query, withQuery } from "../frame/router.ts";
import { Button } from "../parts/button.tsx";
import { DeployWait } from "../parts/deploy-wait.tsx";
import { Note } from "../parts/notes.tsx";
import { PlanList } from "../parts/plan-list.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { say } from "../parts/toasts.tsx";
import { firstManifest, manifestText, readManifests } from "../text/manifest-text.ts";
import { Examples } from "./new/examples.tsx";
import { Form } from "./new/form.tsx";
import { type Plan, send } from "./new/send.ts";

/** Where a new app comes from, and the word for it in the address. */
const origins: readonly [string, string][] = [
  ["", "Image"],
  ["example", "Example"],
];

/** A manifest, its plan, and then the deploy. The form and the text are two views of one thing. */
export function Screen() {
  const of = query.value.get("of") ?? "";
  const from = query.value.get("from") ?? "";
  const [text, setText] = useState(of === "" ? firstManifest : "");
  const [planned, setPlanned] = useState<{ text: string; plan: Plan } | undefined>(undefined);
  const [begun, setBegun] = useState<readonly Operation[]>([]);
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
  const run = async (dry: boolean): Promise<Plan | undefined> => {
    const read = readManifests(text);
    const sent = "fault" in read ? { faults: [read.fault] } : await send(read.manifests, { dry, message });
    setFaults("faults" in sent ? sent.faults : []);
    return "plan" in sent ? sent.plan : undefined;
  };
  const plan = async () => {
    const found = await run(true);
    setPlanned(found === undefined ? undefined : { text, plan: found });
  };
  const deploy = async () => {
    const done = await run(false);
    if (done === undefined) return;
    for (const operation of done.operations) follow({ operation });
    setBegun(done.operations);
    setPlanned(undefined);
    const [first] = done.operations;
    if (of !== "" && first !== undefined) go(appPath(first.app));
    const names = done.applied.map(({ scope, name }) => `${scope ?? ""}/${name}`).join(", ");
    if (done.operations.length === 0) say(`Stored: ${names}`);
  };
  const isPlanned = planned?.text === text;
  return (
    <Page title={of === "" ? "New app" : `Change ${of}`} command="berth apply -f manifest.yaml">
      {of === "" ? <Origins from={from} /> : null}
      <div class="columns">
        <section class="section">
          {of === "" && from === "example" ? <Examples onChoose={setText} /> : null}
          <Form text={text} setText={setText} message={message} setMessage={setMessage} isBuilt={false} />
          <Buttons isPlanned={isPlanned} plan={plan} deploy={deploy} />
          {faults.map((fault) => (
            <Note key={fault} tone="bad">
              {fault}
            </Note>
          ))}
          {planned === undefined || !isPlanned ? null : <PlanList plan={planned.plan} />}
          {begun.length === 0 ? null : <DeployWait begun={begun} />}
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

function Origins({ from }: { from: string }) {
  const tabs = origins.map(([word, title]) => ({ title, href: withQuery({ from: word }) }));
  return <Tabs label="Where the app comes from" tabs={tabs} current={withQuery({ from })} />;
}

interface ButtonsProps {
  isPlanned: boolean;
  plan: () => Promise<void>;
  deploy: () => Promise<void>;
}

function Buttons({ isPlanned, plan, deploy }: ButtonsProps) {
  const missing = lacks("actions");
  return (
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
  );
}
