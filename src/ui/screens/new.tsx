import { useEffect, useState } from "preact/hooks";
import type { ShownBuild } from "../../observability/api/builds.ts";
import { getApp } from "../../observability/api/apps.ts";
import type { Operation } from "../../observability/api/operations.ts";
import type { Source } from "../../orchestration/api/sources.ts";
import { api, faultText } from "../data/api.ts";
import { follow } from "../data/operations.ts";
import { lacks } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import { go, query, withQuery } from "../browser/router.ts";
import { Button } from "../parts/button.tsx";
import { DeployWait } from "../parts/deploy-wait.tsx";
import { Note } from "../parts/notes.tsx";
import { PlanList } from "../parts/plan-list.tsx";
import { Rehearsals } from "../parts/rehearsals.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { say } from "../data/notices.ts";
import { sourceMessage, withBuildIds } from "../text/source-builds.ts";
import { fieldOf, firstManifest, manifestText, missingOf, readManifests, withoutNames } from "../text/manifest-text.ts";
import { buildFirst } from "./new/build-first.ts";
import { BuildWait } from "./new/build-wait.tsx";
import { askUpdate, Existing, isChange } from "./new/existing.tsx";
import { Examples } from "./new/examples.tsx";
import { Form } from "./new/form.tsx";
import { Git } from "./new/git.tsx";
import { SourceFacts } from "./new/source-facts.tsx";
import { Upload } from "./new/upload.tsx";
import { type Plan, rehearse, send } from "./new/send.ts";

/** Where a new app comes from, and the word for it in the address. */
const origins: readonly [string, string][] = [
  ["", "Image"],
  ["git", "Git"],
  ["upload", "Upload"],
  ["example", "Example"],
];

const apply = "berth apply -f manifest.yaml";

/** The command that does the same, by the origin. */
const commands: Record<string, string> = {
  git: "berth up --git URL#REF --name SCOPE/NAME",
  upload: "berth up FOLDER --name SCOPE/NAME",
  example: "berth apply -f examples/NAME",
};

/** A manifest, its plan, and then the deploy. The form and the text are two views of one thing. */
export function Screen() {
  const of = query.value.get("of") ?? "";
  const from = query.value.get("from") ?? "";
  const copied = query.value.get("copy") ?? "";
  const [text, setText] = useState(of === "" && copied === "" ? firstManifest : "");
  const [planned, setPlanned] = useState<{ text: string; plan: Plan } | undefined>(undefined);
  const [begun, setBegun] = useState<readonly Operation[]>([]);
  const [source, setSource] = useState<Source | undefined>(undefined);
  const [building, setBuilding] = useState<ShownBuild | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [message, setMessage] = useState("");
  useEffect(() => {
    const take = (stored: string) => setText(of === "" ? withoutNames(stored) : stored);
    readStored(of || copied, take, (error) => setFaults([faultText(error)]));
  }, [of, copied]);
  // Source belongs to the origin that it was chosen in.
  useEffect(() => {
    if (source !== undefined) setText(firstManifest);
    setSource(undefined);
    setPlanned(undefined);
  }, [from]);
  const run = async (dry: boolean): Promise<Plan | undefined> => {
    const read = readManifests(text);
    const sent = "fault" in read ? { faults: [read.fault] } : await sendAll(read.manifests, dry);
    setFaults("faults" in sent ? sent.faults : []);
    return "plan" in sent ? sent.plan : undefined;
  };
  const sendAll = async (manifests: readonly unknown[], dry: boolean) => {
    if (source === undefined) return send(manifests, { dry, message });
    try {
      if (!dry) await buildFirst(manifests, source, setBuilding);
    } catch (error) {
      return { faults: [faultText(error)] };
    }
    return send(withBuildIds(manifests, source), { dry, message });
  };
  const take = (found: Source) => {
    setSource(found);
    setText(found.text);
    setMessage(sourceMessage(found));
  };
  const plan = async () => {
    const found = await run(true);
    setPlanned(found === undefined ? undefined : { text, plan: found });
  };
  const deploy = async () => {
    setBusy(true);
    const done = await run(false).finally(() => setBusy(false));
    if (done === undefined) return;
    for (const operation of done.operations) follow({ operation });
    setBegun(done.operations);
    setPlanned(undefined);
    const [first] = done.operations;
    if (of !== "" && first !== undefined) go(appPath(first.app));
    const names = done.applied.map(({ scope, name }) => `${scope ?? ""}/${name}`).join(", ");
    if (done.operations.length === 0) say(`Stored: ${names}`);
  };
  const example = (chosen: string) => {
    setSource(undefined);
    setText(chosen);
  };
  const { tried, tryIt } = useTrial({ text, source, setFaults });
  const isPlanned = planned?.text === text;
  const needsSource = of === "" && (from === "git" || from === "upload") && source === undefined;
  const missing = needsSource ? "Choose the source first" : missingOf(text);
  const changed = of === "" && isPlanned ? (planned.plan.plan ?? []).filter(isChange) : [];
  const name = `${fieldOf(text, "scope")}/${fieldOf(text, "name")}`;
  return (
    <Page title={of === "" ? "New app" : `Change ${of}`} command={of === "" ? (commands[from] ?? apply) : apply}>
      {of === "" ? <Origins from={from} /> : null}
      <div class="columns">
        <section class="section">
          {of === "" ? <Origin from={from} text={text} onSource={take} onExample={example} /> : null}
          {source === undefined ? null : <SourceFacts source={source} />}
          <Form
            text={text}
            setText={setText}
            message={message}
            setMessage={setMessage}
            isBuilt={source !== undefined || needsSource}
          />
          {of === "" && begun.length === 0 ? <Existing app={name} /> : null}
          <Buttons
            {...{ isPlanned, missing, busy, plan, tryIt }}
            deploy={() => (changed.length === 0 ? deploy() : askUpdate(changed, deploy))}
            verb={changed.length === 0 ? "Deploy" : `Update ${name}…`}
          />
          {missing === undefined || needsSource ? null : <p class="soft small">{missing}.</p>}
          {faults.map((fault) => (
            <Note key={fault} tone="bad">
              {fault}
            </Note>
          ))}
          {planned === undefined || !isPlanned ? null : <PlanList plan={planned.plan} />}
          {tried === undefined ? null : <Rehearsals key={tried} id={tried} />}
          {building === undefined ? null : <BuildWait key={building.id} build={building} />}
          {begun.length === 0 ? null : <DeployWait begun={begun} />}
        </section>
        <Manifest text={text} setText={setText} />
      </div>
    </Page>
  );
}

function Manifest({ text, setText }: { text: string; setText: (text: string) => void }) {
  return (
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
  );
}

/** The stored manifest of an app that is changed. */
function readStored(of: string, take: (text: string) => void, fail: (error: unknown) => void): void {
  const [scope = "", name = ""] = of.split("/");
  if (name === "") return;
  api
    .call(getApp, { params: { scope, name } })
    .then(({ manifest }) => take(manifestText({ ...manifest, scope, name })), fail);
}

/** Tries what stands in the text on copies. `tried`: the id of what was begun last. */
function useTrial(of: { text: string; source: Source | undefined; setFaults: (faults: readonly string[]) => void }) {
  const [tried, setTried] = useState<string | undefined>(undefined);
  const tryIt = async () => {
    const read = readManifests(of.text);
    if ("fault" in read) return of.setFaults([read.fault]);
    const sent = await rehearse(of.source === undefined ? read.manifests : withBuildIds(read.manifests, of.source));
    of.setFaults("faults" in sent ? sent.faults : []);
    setTried("id" in sent ? sent.id : undefined);
  };
  return { tried, tryIt };
}

function Origins({ from }: { from: string }) {
  const tabs = origins.map(([word, title]) => ({ title, href: withQuery({ from: word }) }));
  return <Tabs label="Where the app comes from" tabs={tabs} current={withQuery({ from })} />;
}

interface OriginProps {
  from: string;
  text: string;
  onSource: (source: Source) => void;
  onExample: (text: string) => void;
}

/** What is asked of each origin. An image is a field of the form. */
function Origin({ from, text, onSource, onExample }: OriginProps) {
  const app = { scope: fieldOf(text, "scope"), name: fieldOf(text, "name") };
  if (from === "git") return <Git app={app} onSource={onSource} />;
  if (from === "upload") return <Upload app={app} onSource={onSource} />;
  return from === "example" ? <Examples onChoose={onExample} /> : null;
}

interface ButtonsProps {
  /** What the manifest still needs. */
  missing: string | undefined;
  busy: boolean;
  isPlanned: boolean;
  plan: () => Promise<void>;
  tryIt: () => Promise<void>;
  deploy: () => Promise<void> | void;
  verb: string;
}

function Buttons({ isPlanned, missing, busy, plan, tryIt, deploy, verb }: ButtonsProps) {
  const hindrance = lacks("actions") ?? missing;
  return (
    <div class="row">
      <Button hindrance={hindrance} {...(isPlanned ? {} : { look: "main" as const })} onClick={() => void plan()}>
        Show the plan
      </Button>
      <Button
        hindrance={lacks("admin") ?? missing}
        title="Tries it on copies of the apps and of their data, out of reach of what is live; nothing is stored"
        onClick={() => void tryIt()}
      >
        Rehearse
      </Button>
      <Button
        hindrance={hindrance}
        disabled={!isPlanned || busy}
        title={isPlanned ? undefined : "Look at the plan first"}
        {...(isPlanned ? { look: "main" as const } : {})}
        onClick={() => void deploy()}
      >
        {busy ? "Deploying…" : verb}
      </Button>
    </div>
  );
}
