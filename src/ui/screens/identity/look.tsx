import { useState } from "preact/hooks";
import type { IdentityInstance } from "../../../identity/api/manage/instances.ts";
import { previewPlanePage, updatePlaneInstance } from "../../../observability/api/identity.ts";
import { planePath } from "../../../observability/api/plane-endpoint.ts";
import { api, faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Note } from "../../parts/notes.tsx";
import { say } from "../../data/notices.ts";
import { Field } from "./parts.tsx";

const states: Record<string, string> = {
  "sign-in": "Sign in",
  wrong: "After a wrong password",
  "signed-in": "With a session",
  "sign-up": "Sign up",
};
const fields = ["title", "accent", "logo_url", "language"] as const;
type Look = Record<(typeof fields)[number], string>;

/** The sign-in page with other branding, before users see it. */
export function Look({ instance, again }: { instance: IdentityInstance; again: () => void }) {
  const { id, settings } = instance;
  const stored = lookOf(settings);
  const [look, setLook] = useState(stored);
  const [state, setState] = useState("sign-in");
  const [shown, setShown] = useState(look);
  const [fault, setFault] = useState("");
  const set = (name: keyof Look) => (value: string) => setLook({ ...look, [name]: value });
  const changed = fields.filter((name) => look[name] !== stored[name]);
  const preview = async () => {
    const wrong = await faultOf(id, look);
    setFault(wrong ?? "");
    if (wrong === undefined) setShown(look);
  };
  return (
    <div class="columns">
      <form
        class="section"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <Field id="look-title" label="Title" value={look.title} hint={instance.app} onInput={set("title")} />
        <Field id="look-accent" label="Colour of buttons" value={look.accent} hint="#2f6fed" onInput={set("accent")} />
        <Field
          id="look-logo"
          label="Logo"
          value={look.logo_url}
          hint="https://shop.com/logo.svg"
          onInput={set("logo_url")}
        />
        <Choice
          id="look-language"
          label="Language"
          value={look.language}
          choices={languages}
          onChoice={set("language")}
        />
        <Choice id="look-state" label="Show the page" value={state} choices={states} onChoice={setState} />
        {fault === "" ? null : <Note tone="bad">{fault}</Note>}
        <div class="row">
          <Button submits>Preview</Button>
          <Store change={{ id, look, changed }} again={again} />
          <a href={instance.sign_in_url} target="_blank" rel="noreferrer" class="small">
            {instance.url}
          </a>
        </div>
      </form>
      <iframe class="preview card" title="Preview of the sign-in page" src={srcOf(id, shown, state)} inert />
    </div>
  );
}

const lookOf = ({ title, accent, logo_url, language }: IdentityInstance["settings"]): Look => ({
  title: title ?? "",
  accent: accent ?? "",
  logo_url: logo_url ?? "",
  language: language ?? "auto",
});

const languages = { auto: "that of the browser", en: "English", de: "German" };

interface ChoiceProps {
  id: string;
  label: string;
  value: string;
  choices: Record<string, string>;
  onChoice: (value: string) => void;
}

function Choice({ id, label, value, choices, onChoice }: ChoiceProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} class="input" value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {Object.entries(choices).map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** What is wrong with a look, in the words of the server: a frame could only show it as it came. */
async function faultOf(instance: string, look: Look): Promise<string | undefined> {
  const query = Object.fromEntries(Object.entries(look).filter(([, value]) => value !== ""));
  try {
    const response = await api.raw(previewPlanePage, { params: { instance }, query });
    if (response.ok) return undefined;
    const { error } = (await response.json()) as { error?: string };
    return error ?? "The preview failed.";
  } catch (error) {
    return faultText(error);
  }
}

function srcOf(instance: string, look: Look, state: string): string {
  const asked = Object.entries({ state, ...look }).filter(([, value]) => value !== "");
  return `${planePath(previewPlanePage).replace(":instance", instance)}?${new URLSearchParams(asked)}`;
}

function Store({ change, again }: { change: Change; again: () => void }) {
  const isSame = change.changed.length === 0;
  return (
    <Button
      look="main"
      hindrance={lacks("admin")}
      disabled={isSame}
      title={isSame ? "Nothing is changed" : undefined}
      onClick={() => askStore(change, again)}
    >
      Store…
    </Button>
  );
}

interface Change {
  id: string;
  look: Look;
  changed: readonly (keyof Look)[];
}

function askStore({ id, look, changed }: Change, again: () => void): void {
  const words = changed.map((name) => `${name}='${look[name]}'`).join(" ");
  ask({
    title: "Change the sign-in page",
    verb: "Store",
    command: `berth identity instance set ${id} ${words}`,
    effects: [
      ...changed.map((name) => ({ text: `${name} becomes ${look[name] === "" ? "the default" : look[name]}` })),
      { text: "Pages and mails have the new look at once" },
    ],
    run: async () => {
      const settings = Object.fromEntries(changed.map((name) => [name, look[name] === "" ? null : look[name]]));
      await api.call(updatePlaneInstance, { params: { instance: id }, body: { settings } });
      say("The sign-in page has the new look");
      again();
    },
  });
}
