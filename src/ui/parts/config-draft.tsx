import { useEffect, useRef, useState } from "preact/hooks";
import type { ConfigPatch } from "../../observability/api/settings.ts";
import { asWhole, type Draft } from "../text/config.ts";
import { readEnvFile } from "../text/env-file.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { Note } from "./notes.tsx";

const keyShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** A key and a value, or a whole .env file. `first`: a key to begin with. */
export function ConfigAdder({
  first,
  own,
  set,
}: {
  first: string;
  /** Keys that are set here, rather than by the scope. */
  own: readonly string[];
  set: (more: Draft) => void;
}) {
  const [isWhole, setIsWhole] = useState(false);
  const [key, setKey] = useState(first);
  const [value, setValue] = useState("");
  const [fault, setFault] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (first !== "") field.current?.focus();
  }, [first]);
  const add = () => {
    if (key === "") {
      const { vars, faults } = readEnvFile(value);
      const empty = Object.keys(vars).filter((name) => vars[name] === "");
      const all = [...faults, ...empty.map((name) => `${name} has no value`)];
      setFault(all.join("; "));
      if (all.length > 0 || Object.keys(vars).length === 0) return;
      set(isWhole ? asWhole(vars, own) : vars);
    } else if (!keyShape.test(key)) {
      setFault("A key has letters, digits and _, and does not begin with a digit.");
      return;
    } else if (value === "") {
      setFault("An empty value would unset the key; use Unset for that.");
      return;
    } else set({ [key]: value });
    setKey("");
    setValue("");
    setFault("");
  };
  return (
    <form
      class="card inset section"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <div class="field">
        <label for="config-key">Key; leave it empty to paste a .env file below</label>
        <input
          id="config-key"
          class="input mono"
          value={key}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="config-value">Value</label>
        <textarea
          ref={field}
          id="config-value"
          class="input"
          value={value}
          spellcheck={false}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </div>
      {key !== "" || own.length === 0 ? null : (
        <label class="row flat small">
          <input type="checkbox" checked={isWhole} onChange={(event) => setIsWhole(event.currentTarget.checked)} />
          The file is everything: keys that are not in it are unset
        </label>
      )}
      {fault === "" ? null : <Note tone="bad">{fault}</Note>}
      <div class="row">
        <Button submits>Add to the changes</Button>
        <span class="small soft">Nothing is stored before you review it.</span>
      </div>
    </form>
  );
}

/** Shows what a draft does, and stores it when the viewer says so. */
export function review(
  { name, draft, known }: { name: string; draft: Draft; known: readonly string[] },
  store: (patch: ConfigPatch, restart: boolean) => Promise<void>,
): void {
  const unset = Object.keys(draft).filter((key) => draft[key] === null);
  const set = Object.fromEntries(Object.entries(draft).filter((entry): entry is [string, string] => entry[1] !== null));
  const patch: ConfigPatch = {
    ...(Object.keys(set).length === 0 ? {} : { set }),
    ...(unset.length === 0 ? {} : { unset }),
  };
  let restart = true;
  const words = Object.keys(set).map((key) => `${key}=…`);
  ask({
    title: `Change the config of ${name}`,
    verb: "Store",
    command: `berth config set ${name} ${words.join(" ")}`.trim(),
    effects: [
      ...Object.keys(set).map((key) => ({
        text: known.includes(key) ? `${key} gets a new value; the one before cannot be read back` : `${key} is new`,
      })),
      ...unset.map((key) => ({ text: `${key} is unset`, ends: true })),
      { text: "Apps that read it restart once, one replica after the other" },
    ],
    body: () => (
      <label class="row flat">
        <input
          type="checkbox"
          defaultChecked
          onChange={(event) => {
            restart = event.currentTarget.checked;
          }}
        />
        Restart now; without it the values count from the next start
      </label>
    ),
    run: () => store(patch, restart),
  });
}
